// The sessions of the coordinator, from an agent's Hello until it leaves or is lost.
//
// One agent has one session. Another process under the same agent id is refused as long as the
// first one answers. Frames of strangers are answered by a refusal and nothing else.
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

  // The session that the frame belongs to, over the connection that it came by. Null: the sender
  // has been refused.
  AgentSession* find(const FrameReceived& event, const wire::Frame& frame);
  void hello(const FrameReceived& event, const wire::Frame& frame);
  // A frame that cannot be read is noted, not answered.
  void refuse_unreadable(const FrameReceived& event, std::string_view reason, std::string text);

  void heard(PeerId peer);
  void disconnected(PeerId peer);
  // `reason` is a label: "left" is the agent's own wish, everything else a loss.
  void lose(std::uint64_t session, std::string_view reason);
  // Sends what is due in every session, and loses those that have been silent for too long.
  void scan();
  TimeNs next_due_ns() const { return context_.roster.size() > 0 ? scan_at_ns_ : kNever; }
  // Says goodbye to all agents; no other one is welcomed after that.
  void shut_down(const std::string& reason);

 private:
  struct RefusalOptions {
    bool closes = true;
    std::uint32_t retry_after_ms = 0;
  };
  void refuse(const FrameReceived& event, const wire::Frame& frame, wire::RefusalCode code,
              Fault fault, const RefusalOptions& options);
  std::string source_of(const FrameReceived& event) const;
  bool may_come_in(const FrameReceived& event, const wire::Frame& frame, const wire::Hello& hello);
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
