// One exchange among peers at an agent, and its view of the peers: the members that are lost, and
// early messages of rounds that have not begun here. Not thread-safe.
//
// Memory is bounded: early messages by the caller's bytes_max, an exchange by its plan. PeerRound
// borrows the plan, the encoders and the cache, which must outlive it; it owns its routes and its
// inputs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/codec/optimizer_view.h"
#include "core/collective/exchange.h"
#include "core/collective/piece_frame.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// The members of an epoch from the view of one agent.
class PeerGroup {
 public:
  PeerGroup() = default;
  PeerGroup(std::uint32_t epoch, std::uint64_t session) : epoch_(epoch), session_(session) {}

  std::uint64_t session() const { return session_; }  // 0: no connections to members
  // True if these are the members of that epoch and connections exist.
  bool of(std::uint32_t epoch) const { return session_ != 0 && epoch_ == epoch; }

  void lost(std::uint32_t member, std::string why) { lost_[member] = std::move(why); }
  const std::map<std::uint32_t, std::string>& lost() const { return lost_; }

  // A message that arrived before its exchange began here.
  struct Early {
    std::uint32_t from = 0;
    Bytes frame;
    SharedSlice payload;
  };
  // Keeps an early message. Returns false if the limit is reached; the exchange of the message is
  // then impossible.
  bool keep(std::uint32_t from, ByteSpan frame, SharedSlice payload, std::uint64_t bytes_max);
  // Removes and returns all early messages.
  std::deque<Early> take_early();
  std::uint64_t bytes() const { return early_bytes_; }

 private:
  std::uint32_t epoch_ = 0;
  std::uint64_t session_ = 0;
  std::map<std::uint32_t, std::string> lost_;
  std::deque<Early> early_;
  std::uint64_t early_bytes_ = 0;
};

// The buffers that an exchange can reuse from an earlier one with the same codecs.
class PeerExchangeCache {
 public:
  ExchangeCache& of(const RoundPlan& plan);
  void clear() { *this = {}; }

 private:
  std::vector<std::shared_ptr<const Codec>> codecs_;
  std::unique_ptr<ExchangeCache> cache_;
};

// The inputs of an exchange but for the values, which a bucket gets when it begins. `held` owns
// what is not copied: the optimizer's state, and values (PeerRound::hold).
struct PeerInputs {
  std::vector<ExchangeBucket> buckets;
  std::deque<OptimizerView> views;  // to which buckets point
  std::vector<std::shared_ptr<const void>> held;
};

// One exchange of one round.
class PeerRound {
 public:
  // The plan and the encoders in `inputs` must outlive the object.
  PeerRound(const RoundPlan& plan, const Routes& routes, std::uint32_t rank, std::uint64_t session,
            PeerInputs inputs, ExchangeCache& cache, const Execution& execution)
      : id_{.round = wire_id(plan.key()), .session = session},
        routes_(routes),
        inputs_(std::move(inputs)),
        exchange_(routes_, rank, inputs_.buckets, cache, execution),
        end_left_(exchange_.buckets()),
        copies_(exchange_.buckets()),
        reported_(exchange_.buckets(), false) {}
  PeerRound(const PeerRound&) = delete;
  PeerRound& operator=(const PeerRound&) = delete;

  const ExchangeId& id() const { return id_; }
  PeerExchange& exchange() { return exchange_; }
  const PeerExchange& exchange() const { return exchange_; }

  // Buckets are begun one at a time, so that a bucket is sent while the next one is encoded.
  bool all_begun() const { return first_left_ == end_left_; }
  // The first and the last bucket that have not begun. Requires that one is left.
  std::uint32_t first_left() const { return first_left_; }
  std::uint32_t last_left() const { return end_left_ - 1; }
  // Begins one of these two, with values that stay valid and unchanged while the exchange lives.
  Status begin(std::uint32_t bucket, std::span<const float> input, PeerSends& out);
  // The same with a copy of the values, because those around them still change.
  Status begin_with_copy(std::uint32_t bucket, std::span<const float> input, PeerSends& out);
  // Keeps the owner of values with which buckets begin.
  void hold(std::shared_ptr<const void> values) { inputs_.held.push_back(std::move(values)); }

  // True if the bucket is encoded with the optimizer's state.
  bool by_optimizer(std::uint32_t bucket) const {
    return inputs_.buckets[bucket].optimizer != nullptr;
  }
  // True once for each bucket, when it is complete.
  bool news(std::uint32_t bucket);
  bool over() const { return all_begun() && exchange_.buckets_open() == 0; }

  // The results of all stages of a complete bucket, in the form in which they are stored.
  std::vector<SharedBytes> combined(const PlannedBucket& bucket) const;

 private:
  const ExchangeId id_;
  const Routes routes_;
  PeerInputs inputs_;
  PeerExchange exchange_;
  // All buckets before the one and from the other on have begun, and no others.
  std::uint32_t first_left_ = 0;
  std::uint32_t end_left_;
  std::vector<FloatVector> copies_;  // by bucket; empty: it has none
  std::vector<bool> reported_;
};

}  // namespace tributary
