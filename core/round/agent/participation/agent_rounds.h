// The rounds of an agent from plan to commit: keeps plans that cannot begin yet, begins each round
// when the replica has its model, collects aggregates, and applies the commit when all of them have
// arrived.
//
// The caller passes the messages of the session that concern rounds, and runs the due work after
// every event. A plan that does not fit the job is refused. If the replica does not fit a plan or a
// commit, the model is requested again. This object owns the rounds; all references must outlive
// it. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/exchange/agent_peers.h"
#include "core/round/agent/participation/missing_aggregates.h"
#include "core/round/agent/participation/participation.h"
#include "core/round/agent/replica/local_updates.h"
#include "core/round/agent/replica/model_transfer.h"
#include "core/round/agent/replica/pending_commit.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/waiting_rounds.h"

namespace tributary {

class AgentRounds {
 public:
  // The other parts of the agent that rounds use and change.
  struct Parts {
    ClientSession& session;
    Replica& replica;
    ModelTransfer& transfer;
    const AgentPeers& peers;
    LocalUpdates& updates;
    MissingAggregates& missing;
    Participation& participation;
    CodecCache& codecs;
  };
  AgentRounds(AgentContext& context, const Parts& parts) : context_(context), parts_(parts) {}

  // Null if no round has begun.
  const AgentRound* current() const { return round_.get(); }

  // --- messages of the session ---
  void receive(const wire::Plan& plan, std::uint64_t message_id);
  void receive(const wire::Aggregate& aggregate, ByteSpan payload);
  void receive(const wire::Commit& commit);
  void receive(const wire::Abort& abort);

  // --- changes from outside ---
  void session_opened(std::uint32_t parts_in_flight);
  void session_lost() { waiting_.clear(); }
  // The job has changed: drops everything of the previous one.
  void begin_job();
  // A download has replaced the model, which had the version `before`. The caller stores its record
  // before it calls try_commit().
  void model_replaced(std::uint64_t before);
  void try_commit();

  // --- due work, after every event ---
  void begin_next();
  // Requests aggregates that do not arrive.
  void ask_for_missing();
  // Requests the model if a commit waits for its data for too long.
  void replace_overdue_commit();
  TimeNs next_due_ns() const;

  std::uint64_t bytes() const { return (round_ ? round_->bytes() : 0) + waiting_.bytes(); }

 private:
  bool can_begin(const RoundPlan& plan) const;
  void begin(std::unique_ptr<AgentRound> round);
  void take_part_in(AgentRound& round);
  void close();
  void drop();
  void forget_round();
  void committed();
  void send_applied(const RoundKey& id, std::uint64_t hash);
  TimeNs commit_overdue_ns() const;

  AgentContext& context_;
  const Parts parts_;
  std::unique_ptr<AgentRound> round_;
  WaitingRounds waiting_;
  PendingCommit commit_;  // for round_, or for a round whose plan has not arrived yet
};

}  // namespace tributary
