// An agent's part in an attempt by peers: runs the round's exchanges one after the other, uploads
// the results that are this agent's to upload, and prepares the commit by storing the residual that
// the round would leave.
//
// The caller begins with a round that outlives the call of end(), starts an exchange once its
// update is there, and drives it by advance() and by what peers send. An exchange that fails
// withdraws the agent from the attempt. What it works with is borrowed and outlives it.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/exchange/agent_peers.h"
#include "core/round/agent/exchange/ahead_of_commit.h"
#include "core/round/agent/replica/local_updates.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/encoder_cache.h"
#include "core/round/agent/round/round_upload.h"
#include "core/round/agent/round/round_withdrawal.h"

namespace tributary {

class RoundExchange {
 public:
  // The inputs and the targets of an exchange.
  struct Parts {
    AgentPeers& peers;
    LocalUpdates& updates;
    EncoderCache& encoders;
    AheadOfCommit& ahead;
    RoundUpload& upload;
    const RoundWithdrawal& withdrawal;
  };
  // The next step for the caller. Trains: the round's next exchange waits for its update.
  enum class Next : std::uint8_t { nothing, trains };

  // `prepared` is called when the residual that the round would leave is stored.
  RoundExchange(AgentContext& context, const Parts& parts, std::function<void()> prepared)
      : context_(context), parts_(parts), on_prepared_(std::move(prepared)) {}

  void begin(AgentRound& round);
  void end();

  // --- while a round has begun ---
  // The input of the next exchange is final.
  void start();
  // An exchange runs. One bucket is begun at a time, so that others' payloads come in between.
  bool running() const { return round_ && exchange_ && !round_->withdrawn(); }
  bool has_more_to_begin() const { return running() && !exchange_->all_begun(); }
  [[nodiscard]] Next advance();
  // The session has ended meanwhile, and may have taken the withdrawal with it.
  void withdraw_again();

  // --- events of peers; those of earlier sessions of theirs are ignored ---
  [[nodiscard]] Next receive(const PeerFrameReceived& event);
  void lost(const PeerLost& event);

  // --- how far the round is ---
  std::uint32_t index() const { return index_; }  // of the exchange that runs or comes next
  std::uint32_t first_bucket() const;             // of that exchange
  bool prepared() const { return prepared_; }     // the residual that it would leave is stored
  std::uint64_t results_hash() const { return results_hash_; }  // of all exchanges; 0: not yet

 private:
  Result<std::unique_ptr<PeerRound>> make() const;
  std::span<const float> input_of(const PlannedBucket& bucket) const;
  void withdraw(const Status& status);
  void pass_on(PeerSends& sends);
  Next take(std::uint32_t from, ByteSpan frame, SharedSlice payload);
  Next take_results(std::uint32_t bucket);
  Result<std::vector<ContributionPart>> left_over() const;
  Next finish();
  void prepare(std::vector<ContributionPart> parts);

  AgentContext& context_;
  const Parts parts_;
  const std::function<void()> on_prepared_;
  AgentRound* round_ = nullptr;          // null: none has begun
  std::unique_ptr<PeerRound> exchange_;  // null: none runs
  std::uint32_t index_ = 0;
  bool prepared_ = false;
  std::uint64_t results_hash_ = 0;
};

}  // namespace tributary
