// The sessions of the coordinator, from an agent's Hello until the agent leaves or is lost.
//
// An agent has one session. Another process with the same agent id is refused as long as the first
// one answers. A frame without a valid session is answered by a refusal only. The references given
// to the constructor must outlive the object. Not thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "core/round/coordinator/context/coordinator_context.h"
#include "core/round/coordinator/context/link_reports.h"
#include "core/round/coordinator/job/job_table.h"

namespace tributary {

class CoordinatorSessions {
 public:
  CoordinatorSessions(CoordinatorContext& context, JobTable& jobs, LinkReports& links)
      : context_(context), jobs_(jobs), links_(links) {}

  // The session of the frame, if it arrived over that session's connection. Null: the sender was
  // refused.
  AgentSession* find(const FrameReceived& event, const wire::Frame& frame);
  // Handles a Hello: welcomes the agent, repeats the Welcome, or refuses the agent.
  void hello(const FrameReceived& event, const wire::Frame& frame);
  // Notes a frame that cannot be parsed, and does not answer it.
  void refuse_unreadable(const FrameReceived& event, std::string_view reason, std::string text);

  // Bytes of this connection have arrived.
  void bytes_arrived(PeerId peer);
  // The connection has ended, which ends its session.
  void disconnected(PeerId peer);
  // Ends a session. `reason` is a label: "left" means that the agent sent Leave; any other reason
  // is a loss.
  void lose(std::uint64_t session, std::string_view reason);
  // Sends due heartbeats and acknowledgements in every session, and ends sessions that were silent
  // for too long.
  void scan();
  TimeNs next_due_ns() const { return context_.roster.size() > 0 ? scan_at_ns_ : kNever; }
  // Sends bulk bytes of the sessions that waited for room among those in flight to all agents.
  void send_waiting();
  // Sends Leave to all agents. Later Hellos are refused.
  void shut_down(const std::string& reason);

 private:
  struct RefusalOptions {
    bool closes = true;
    std::uint32_t retry_after_ms = 0;
  };
  void refuse(const FrameReceived& event, const wire::Frame& frame, wire::RefusalCode code,
              Fault fault, const RefusalOptions& options);
  std::string source_of(const FrameReceived& event) const;
  // Checks version, role, agent id and capacity; refuses the sender if one does not fit.
  bool may_come_in(const FrameReceived& event, const wire::Frame& frame, const wire::Hello& hello);
  // Opens a session. `before` is the session that it continues; 0: none.
  void welcome(const FrameReceived& event, const wire::Frame& frame, const wire::Hello& hello,
               std::uint64_t before);
  void send_welcome(AgentSession& session, std::uint64_t hello_id);

  CoordinatorContext& context_;
  JobTable& jobs_;
  LinkReports& links_;
  TimeNs scan_at_ns_ = 0;
  bool shutting_down_ = false;
};

}  // namespace tributary
