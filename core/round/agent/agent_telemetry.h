// Makes an agent's links and its device known to the coordinator: echoes probes, and sends samples
// of links from peers and the speeds of its codecs.
//
// Nothing is sent while no session is open. Speeds that were measured meanwhile are in the next
// Hello; samples of links are dropped. A probe that asks for too much is refused or not echoed.
//
// Threads: one at a time.
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

  // Within the call, whatever else is being done: training has a thread of its own.
  void echo(const wire::LinkProbe& probe, bool waited_for);
  void send_links(const TellLinks& event);
  void take_speeds(const TellSpeeds& event);
  // Sends the speeds that the Hello of this session did not have.
  void send_speeds();
  // With the newest speeds, for a Hello that is sent now.
  std::unique_ptr<wire::CapabilitiesT> capabilities_to_send();

 private:
  AgentContext& context_;
  ClientSession& session_;
  wire::CapabilitiesT capabilities_;
  EchoAllowance echoes_;
  bool speeds_unsent_ = false;  // measured since the last Hello or message that had them
};

}  // namespace tributary
