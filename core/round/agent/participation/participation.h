// An agent's part in its current round: trains, sends the update through the star, among peers or
// through an aggregator in the network, reports, and settles the contribution when the round is
// committed or closed.
//
// The caller begins with a round of the replica's model, which lives until close(), drop() or
// apply() has returned, and passes the events of the round. An agent that fails in a round
// withdraws from it but still follows it. All references must outlive the object. Only apply()
// changes the replica. Not thread-safe.
#pragma once

#include <cstdint>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/allocation_notes.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/exchange/agent_peers.h"
#include "core/round/agent/exchange/ahead_of_commit.h"
#include "core/round/agent/exchange/network_exchange.h"
#include "core/round/agent/exchange/round_exchange.h"
#include "core/round/agent/participation/agent_reporter.h"
#include "core/round/agent/participation/contribution.h"
#include "core/round/agent/participation/missing_aggregates.h"
#include "core/round/agent/participation/work_ahead.h"
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
  Participation(const Participation&) = delete;  // its members refer to one another
  Participation& operator=(const Participation&) = delete;

  // The job has changed: drops everything of the previous one.
  void begin_job();
  // The model was replaced by a download, so the memory of all encoders is invalid.
  void forget_encoders() {
    contribution_.finish_encoding();
    encoders_.clear();
  }
  // Its finish_encoding() comes before a change of the updates that this object does not make.
  Contribution& contribution() { return contribution_; }
  RoundUpload& upload() { return upload_; }

  // --- the round ---
  // Begins a round, and trains if its update is not available yet.
  void begin(AgentRound& round);
  // Ends the round without a commit. Its contribution stays in the residual.
  void close();
  // Ends the round, whose outcome was learned from a download.
  void drop();
  // The coordinator cannot add this agent's numbers. The agent sends nothing more in the round with
  // this key, and drops its residual at the end of the current round, or now if there is none.
  void exclude(const RoundKey& key);
  // Applies the commit to the replica's model and settles the round. Requires that all aggregates
  // of the commit have arrived. Returns false if the replica has lost its model; the round then
  // continues.
  [[nodiscard]] bool apply(const wire::CommitT& commit);

  // --- events; unexpected ones are ignored ---
  void session_opened(std::uint32_t parts_in_flight);
  // One more stage of the bucket has all its aggregates.
  void stage_closed(std::uint32_t bucket);
  // The answers of the trainer.
  void take_part(const UpdatePart& event);
  void take(UpdateReady& event);
  void failed(const UpdateFailed& event);
  void receive(const PeerFrameReceived& event) { follow(exchange_.receive(event)); }
  void lost(const PeerLost& event) { exchange_.lost(event); }
  // The host's answer to an exchange in the network.
  void take(const NetworkSummed& event) { network_.take(event); }

  // --- due work, after every event ---
  void take_kept_update();
  // Continues an exchange among peers, and sends what is due. After a tick, also makes a step of
  // the other work.
  void go_on(bool after_tick);
  // True if there is more work to do at once. It is done in steps, so that messages are handled in
  // between.
  bool busy() const {
    return !contribution_.encoding() &&
           (exchange_.has_more_to_begin() || contribution_.has_more() || work_ahead_.due());
  }

  // --- work while the agent is otherwise idle ---
  bool trying_codecs() const { return reporter_.trying() && !busy() && !contribution_.encoding(); }
  void try_codecs(CodecCache& codecs) { reporter_.try_next(codecs); }

  const LocalTraining& training() const { return training_; }

 private:
  // training
  void start_work();
  void train();
  void trained(UpdateReady& event);
  void drop_if_too_large(const RoundPlan& plan);
  Status take_update(const LocalTraining::Running& training, UpdateReady& event, double norm);
  void store_late_update(const RoundKey& id);
  void end_round();
  void drop_marked(const RoundKey& id);
  // contribution
  void contribute();
  void step();
  void follow(RoundExchange::Next next);
  void report();
  // commit
  bool make_model(const wire::CommitT& commit);
  void settle_encoders(const wire::CommitT& commit, const Bitmap& counted);

  AgentContext& context_;
  const Parts parts_;
  const RoundWithdrawal withdrawal_;
  EncoderCache encoders_;
  FloatVector scratch_;  // used only within calls
  LocalTraining training_;
  AgentReporter reporter_;
  RoundUpload upload_;
  NetworkExchange network_;
  Contribution contribution_;
  AheadOfCommit ahead_;
  RoundExchange exchange_;
  WorkAhead work_ahead_;
  AgentRound* round_ = nullptr;  // null: none has begun
  AllocationNotes allocations_;
};

}  // namespace tributary
