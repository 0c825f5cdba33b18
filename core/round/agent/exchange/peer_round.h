// An agent's exchange of one round among peers, and what it has to know of them: who is lost, and
// what came of a round that has not begun here.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/collective/exchange.h"
#include "core/collective/piece_frame.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// The members of an epoch, as their agent sees them.
class PeerGroup {
 public:
  PeerGroup() = default;
  PeerGroup(std::uint32_t epoch, std::uint64_t session) : epoch_(epoch), session_(session) {}

  std::uint64_t session() const { return session_; }  // 0: there are none
  bool of(std::uint32_t epoch) const { return session_ != 0 && epoch_ == epoch; }

  void lost(std::uint32_t member, std::string why) { lost_[member] = std::move(why); }
  const std::map<std::uint32_t, std::string>& lost() const { return lost_; }

  struct Early {
    std::uint32_t from = 0;
    Bytes frame;
    SharedSlice payload;
  };
  // False: there is no room, and the exchange that it is for cannot be.
  bool keep(std::uint32_t from, ByteSpan frame, SharedSlice payload, std::uint64_t bytes_max);
  std::deque<Early> take_early();
  std::uint64_t bytes() const { return early_bytes_; }

 private:
  std::uint32_t epoch_ = 0;
  std::uint64_t session_ = 0;
  std::map<std::uint32_t, std::string> lost_;
  std::deque<Early> early_;
  std::uint64_t early_bytes_ = 0;
};

// What is worth keeping from one exchange to the next of the same codecs.
class PeerExchangeCache {
 public:
  ExchangeCache& of(const RoundPlan& plan);
  void clear() { *this = {}; }

 private:
  std::vector<std::shared_ptr<const Codec>> codecs_;
  std::unique_ptr<ExchangeCache> cache_;
};

// Inputs stay where they are: `held` owns them.
struct PeerInputs {
  std::vector<ExchangeBucket> buckets;
  std::vector<SharedFloats> held;
};

class PeerRound {
 public:
  // The plan outlives it.
  PeerRound(const RoundPlan& plan, const Routes& routes, std::uint32_t rank, std::uint64_t session,
            PeerInputs inputs, ExchangeCache& cache, const Execution& execution)
      : id_{.round = wire_id(plan.key()), .session = session},
        routes_(routes),
        inputs_(std::move(inputs)),
        exchange_(routes_, rank, inputs_.buckets, cache, execution),
        told_(exchange_.buckets(), false) {}
  PeerRound(const PeerRound&) = delete;
  PeerRound& operator=(const PeerRound&) = delete;

  const ExchangeId& id() const { return id_; }
  PeerExchange& exchange() { return exchange_; }
  const PeerExchange& exchange() const { return exchange_; }

  // One at a time, so that what is encoded is sent while the next is.
  bool all_begun() const { return begun_ == exchange_.buckets(); }
  std::uint32_t begun() const { return begun_; }
  Status begin_next(PeerSends& out) { return exchange_.begin(begun_++, out); }

  // Of a bucket that is whole, the first time.
  bool news(std::uint32_t bucket);
  bool over() const { return all_begun() && exchange_.buckets_open() == 0; }

  // Of a bucket that is whole: of each stage what it came to, in the form in which it is kept.
  std::vector<SharedBytes> combined(const PlannedBucket& bucket) const;

 private:
  const ExchangeId id_;
  const Routes routes_;
  const PeerInputs inputs_;
  PeerExchange exchange_;
  std::vector<bool> told_;
  std::uint32_t begun_ = 0;
};

}  // namespace tributary
