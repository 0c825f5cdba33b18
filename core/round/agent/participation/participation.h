// An agent's part in its current round: trains, gives the update by the star or by peers,
// reports on it, and settles the contribution when the round is committed or closed.
//
// The caller begins with a round of the replica's model, which outlives the call that ends it
// (close, drop, or apply), and passes in the events that concern the round. An agent that fails in
// a round withdraws from it and follows it on. What is borrowed outlives this object; the replica
// is changed by apply() alone.
//
// Threads: one at a time.
#pragma once

#include <cstdint>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/exchange/agent_peers.h"
#include "core/round/agent/exchange/ahead_of_commit.h"
#include "core/round/agent/exchange/round_exchange.h"
#include "core/round/agent/participation/agent_reporter.h"
#include "core/round/agent/participation/contribution.h"
#include "core/round/agent/participation/missing_aggregates.h"
#include "core/round/agent/replica/local_updates.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/encoder_cache.h"
#include "core/round/agent/round/local_training.h"
#include "core/round/agent/round/round_upload.h"
#include "core/round/agent/round/round_withdrawal.h"

namespace tributary {

class Participation {
 public:
  // The other parts of the agent that a round uses and changes.
  struct Parts {
    ClientSession& session;
    Replica& replica;
    AgentPeers& peers;
    LocalUpdates& updates;
    MissingAggregates& missing;
  };
  Participation(AgentContext& context, const Parts& parts);
  Participation(const Participation&) = delete;  // its parts refer to one another
  Participation& operator=(const Participation&) = delete;

  // The job is another: nothing of the one before is left.
  void begin_job();
  // The model has not come by commits: no encoder remembers what belongs to it.
  void forget_encoders() { encoders_.clear(); }

  // --- the round ---
  void begin(AgentRound& round);
  // It is over without a commit: its contribution stays in the residual.
  void close();
  // It is decided, and its outcome is known by other means.
  void drop();
  // Makes the commit's model of the replica's, and settles the round by it. All that the commit
  // needs is here. False: the replica has lost its model, and the round goes on.
  [[nodiscard]] bool apply(const wire::CommitT& commit);

  // --- events; those that are not expected are ignored ---
  void session_opened(std::uint32_t parts_in_flight);
  void receive(const wire::Receipt& receipt) { upload_.receive(receipt); }
  // The aggregates of a bucket have come, up to one more stage.
  void stage_closed(std::uint32_t bucket);
  void take_part(const UpdatePart& event);
  void take(UpdateReady& event);
  void failed(const UpdateFailed& event);
  void receive(const PeerFrameReceived& event) { follow(exchange_.receive(event)); }
  void lost(const PeerLost& event) { exchange_.lost(event); }

  // --- after every event ---
  void take_kept_update();
  void go_on();
  TimeNs next_due_ns() const { return upload_.next_due_ns(); }
  // An exchange has more to do at once.
  bool busy() const { return exchange_.has_more_to_begin(); }

  // --- while there is nothing else to do ---
  bool trying_codecs() const { return reporter_.trying(); }
  void try_codecs(CodecCache& codecs) { reporter_.try_next(codecs); }

  const LocalTraining& training() const { return training_; }
  // Memory of payloads that are to be uploaded.
  std::uint64_t bytes() const { return upload_.bytes(); }

 private:
  // training
  void start_work();
  void train();
  bool residual_is_being_stored() const;
  void trained(UpdateReady& event);
  Status check(const UpdateReady& event) const;
  void take_update(const LocalTraining::Running& training, UpdateReady& event);
  void store_late_update(const RoundKey& id);
  // contribution
  void contribute();
  void follow(RoundExchange::Next next);
  void report();
  // commit
  bool make_model(const wire::CommitT& commit);
  Bitmap counted_in(const wire::CommitT& commit) const;
  void settle_encoders(const wire::CommitT& commit, const Bitmap& counted);

  AgentContext& context_;
  Replica& replica_;
  AgentPeers& peers_;
  LocalUpdates& updates_;
  MissingAggregates& missing_;
  const RoundWithdrawal withdrawal_;
  EncoderCache encoders_;
  FloatVector scratch_;  // lent within calls
  LocalTraining training_;
  AgentReporter reporter_;
  RoundUpload upload_;
  Contribution contribution_;
  AheadOfCommit ahead_;
  RoundExchange exchange_;
  AgentRound* round_ = nullptr;  // null: none has begun
};

}  // namespace tributary
