// Informs the coordinator about an agent's links and device: echoes probes, and sends measurements
// of links from peers and the speeds of its codecs.
//
// Nothing is sent while no session is open. Speeds measured meanwhile are part of the next Hello;
// measurements of links are dropped. A probe that is too large is refused, and one above the
// allowance per minute is not echoed. Not thread-safe.
#pragma once

#include <memory>

#include "core/link_quality/echo_allowance.h"
#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"

namespace tributary {

class AgentTelemetry {
 public:
  AgentTelemetry(AgentContext& context, ClientSession& session)
      : context_(context), session_(session), capabilities_(context.config.capabilities) {}

  // Echoes a probe within the call, even while the agent trains, because training runs in another
  // thread. `waited_for`: see FrameReceived.
  void echo(const wire::LinkProbe& probe, bool waited_for);
  // Sends measurements of links.
  void send_links(const ReportLinks& event);
  // Records measured speeds, and sends them if a session is open.
  void take_speeds(const ReportSpeeds& event);
  // Sends the speeds that were measured since the Hello of this session.
  void send_speeds();
  // The capabilities with the newest speeds, for a Hello that is sent now.
  std::unique_ptr<wire::CapabilitiesT> capabilities_to_send();

 private:
  AgentContext& context_;
  ClientSession& session_;
  wire::CapabilitiesT capabilities_;
  EchoAllowance echoes_;
  bool speeds_unsent_ = false;  // measured since the last message that contained speeds
};

}  // namespace tributary
