// An agent's part in an attempt by peers: runs the exchanges of the round one after the other,
// uploads this agent's segments of the results, and prepares the commit by storing the
// residual that the round would leave.
//
// The caller begins with a round that lives until end(), starts an exchange when its update is
// available, or when the end of it is, and drives it by advance() and by messages of peers. A
// failed exchange withdraws the agent from the attempt. All references must outlive the object. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
  // The inputs and outputs of an exchange.
  struct Parts {
    AgentPeers& peers;
    LocalUpdates& updates;
    EncoderCache& encoders;
    AheadOfCommit& ahead;
    RoundUpload& upload;
    const RoundWithdrawal& withdrawal;
  };
  // The next step for the caller. `trains`: the next exchange of the round needs an update first.
  enum class Next : std::uint8_t { nothing, trains };

  // `prepared` is called when the residual that the round would leave is stored.
  RoundExchange(AgentContext& context, const Parts& parts, std::function<void()> prepared)
      : context_(context), parts_(parts), on_prepared_(std::move(prepared)) {}

  // Begins a round.
  void begin(AgentRound& round);
  // Ends the round and drops its exchange.
  void end();

  // --- while a round has begun ---
  // Starts the next exchange, or goes on with all buckets of one that has started early. Requires
  // that its input is final.
  void start();
  // Starts the only exchange of the round with the buckets whose values are final, while the
  // residual still gets those before them. Further calls go on with more buckets.
  void start_early();
  // True while an exchange runs. Buckets are begun one at a time, so that messages of peers are
  // handled in between.
  bool running() const { return round_ && exchange_ && !round_->withdrawn(); }
  bool has_more_to_begin() const { return running() && next_bucket().has_value(); }
  // Encodes and sends the next bucket.
  [[nodiscard]] Next advance();
  // Repeats a withdrawal in a new session, because the old one may have lost it.
  void withdraw_again();

  // --- events of peers; those of earlier peer sessions are ignored ---
  [[nodiscard]] Next receive(const PeerFrameReceived& event);
  void lost(const PeerLost& event);

  // --- progress ---
  std::uint32_t index() const { return index_; }  // of the current or next exchange
  std::uint32_t first_bucket() const;             // of that exchange
  bool prepared() const { return prepared_; }  // the residual that the round would leave is stored
  std::uint64_t results_hash() const { return results_hash_; }  // of all exchanges; 0: not complete

 private:
  Result<std::unique_ptr<PeerRound>> make() const;
  bool make_and_take_kept();
  std::optional<std::uint32_t> next_bucket() const;
  std::span<const float> input_of(const PlannedBucket& bucket) const;
  void withdraw(const Status& status,
                wire::AbortReason reason = wire::AbortReason::collective_failed);
  void pass_on(PeerSends& sends);
  Next take(std::uint32_t from, ByteSpan frame, SharedSlice payload);
  Next take_results(std::uint32_t bucket);
  Result<std::vector<ContributionPart>> left_over() const;
  Next finish();
  void upload_results(const PlannedBucket& bucket);
  bool trains_beside_upload() const;
  void prepare(std::vector<ContributionPart> parts);

  AgentContext& context_;
  const Parts parts_;
  const std::function<void()> on_prepared_;
  AgentRound* round_ = nullptr;          // null: no round has begun
  std::unique_ptr<PeerRound> exchange_;  // null: none runs
  bool input_final_ = false;             // of the exchange that runs
  TimeNs began_at_ns_ = 0;               // its first bucket
  std::uint32_t index_ = 0;
  bool prepared_ = false;
  std::uint64_t results_hash_ = 0;
};

}  // namespace tributary
