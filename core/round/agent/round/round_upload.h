// Uploads an agent's payloads of one attempt at a round, over sessions, until the coordinator has
// them or the attempt ends.
//
// The caller begins with a round that outlives the call of end(), and adds payloads between the
// two. Without a session payloads wait for the next one. The time until a payload is announced
// again depends on the session's acknowledgements.
//
// Threads: one at a time.
#pragma once

#include <cstdint>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/outgoing.h"

namespace tributary {

class RoundUpload {
 public:
  RoundUpload(AgentContext& context, ClientSession& session)
      : context_(context), session_(session) {}

  void begin(AgentRound& round);
  // Parts that have not been sent are dropped.
  void end();

  // --- while a round has begun ---
  void add(std::uint32_t bucket, std::uint32_t stage, SharedBytes payload);
  // The stage is closed: its payload is of no more use. Only while a session is open.
  void close_stage(std::uint32_t bucket, std::uint32_t stage);
  // The coordinator has room for so many parts at once; 0: as it was. Payloads wait until it calls
  // them.
  void session_opened(std::uint32_t parts);

  // A receipt of another attempt is ignored.
  void receive(const wire::Receipt& receipt);
  void pump();
  TimeNs next_due_ns() const { return outgoing_.next_due_ns(); }
  std::uint64_t bytes() const { return outgoing_.bytes(); }

 private:
  Outgoing::Session streams();
  TimeNs again_ns() const { return 4 * session_.ack_timeout_ns(); }

  AgentContext& context_;
  ClientSession& session_;
  AgentRound* round_ = nullptr;  // null: none has begun
  Outgoing outgoing_;
};

}  // namespace tributary
