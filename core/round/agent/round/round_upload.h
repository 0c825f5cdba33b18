// Uploads an agent's payloads of one attempt at a round, over several sessions if needed, until the
// coordinator has them or the attempt ends.
//
// The caller begins with a round that lives until end(), and adds payloads in between. Without a
// session, payloads wait for the next one. The pause before an announcement is repeated is a
// multiple of the session's acknowledgement timeout. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/outgoing.h"

namespace tributary {

class RoundUpload {
 public:
  RoundUpload(AgentContext& context, ClientSession& session)
      : context_(context), session_(session) {}

  // Begins an attempt.
  void begin(AgentRound& round);
  // Ends the attempt. Parts that were not sent are dropped.
  void end();

  // --- while a round has begun ---
  void add(Outgoing::Payload payload) { outgoing_.add(std::move(payload)); }
  // Adds this agent's segment of a result that all members have, if it has one.
  void add_result(std::uint32_t bucket, std::uint32_t stage, const SharedBytes& result);
  // Drops the bucket's payloads up to a closed stage. Requires an open session. Returns the payload
  // whose upload had begun. The session goes on sending it if it outlives the round.
  std::optional<Outgoing::Payload> close_stage(std::uint32_t bucket, std::uint32_t stage) {
    return outgoing_.cancel(bucket, stage, streams());
  }
  // A new session has opened. `parts` is the number of parts that may be in flight; 0: unchanged.
  // Payloads wait until the coordinator calls them.
  void session_opened(std::uint32_t parts);

  // Stops an upload that has outlived its attempt. Needs no round.
  void drop(const Outgoing::Payload& payload);

  // Handles a receipt; ignores one of another attempt. A receipt for a segment of another member
  // asks for it: that member has left after its report.
  void receive(const wire::Receipt& receipt);
  // Sends what is due.
  void pump();
  TimeNs next_due_ns() const { return outgoing_.next_due_ns(); }
  std::uint64_t bytes() const { return outgoing_.bytes(); }

 private:
  Outgoing::Session streams();
  void add_segment_of_other(const wire::Receipt& receipt);
  TimeNs again_ns() const { return 4 * session_.ack_timeout_ns(); }

  AgentContext& context_;
  ClientSession& session_;
  AgentRound* round_ = nullptr;  // null: none has begun
  Outgoing outgoing_;
};

}  // namespace tributary
