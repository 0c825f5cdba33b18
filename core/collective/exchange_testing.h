// Members of an exchange in one process, over a network that keeps the order on each link but not
// between links; and a specification that computes the expected result of an exchange in one place.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/codec/codec_testing.h"
#include "core/codec/error_feedback.h"
#include "core/collective/exchange.h"

namespace tributary::exchange_testing {

inline RoundContext context(std::uint32_t bucket, std::uint32_t agent, std::uint32_t agents) {
  return {.job_seed = 11, .round = 3, .bucket = bucket, .agent = agent, .agents = agents};
}

// Faults of the network, as probabilities in units of 1/256.
struct Faults {
  std::uint32_t twice = 0;
  std::uint32_t overtaken = 0;
  std::uint32_t lost = 0;
};

// Indexed as values[bucket][member].
using Updates = std::vector<std::vector<FloatVector>>;

// All members with their encoders and caches. `codec` and `updates` must outlive the object.
class Members {
 public:
  Members(const Codec& codec, wire::Collective collective, const Updates& updates,
          const Execution& execution = {})
      : routes_(*Routes::make(collective, static_cast<std::uint32_t>(updates[0].size()))) {
    const std::uint32_t members = routes_.members();
    encoders_.resize(members);
    shelves_.resize(members);
    for (std::uint32_t m = 0; m < members; ++m) {
      std::vector<ExchangeBucket> buckets;
      for (std::uint32_t b = 0; b < updates.size(); ++b) {
        const FloatVector& input = updates[b][m];
        encoders_[m].push_back(codec.make_encoder(static_cast<std::uint32_t>(input.size())));
        buckets.push_back({.codec = &codec,
                           .encoder = encoders_[m].back().get(),
                           .input = input,
                           .round = context(b, m, members)});
      }
      members_.push_back(
          std::make_unique<PeerExchange>(routes_, m, std::move(buckets), shelves_[m], execution));
    }
  }

  PeerExchange& operator[](std::uint32_t member) { return *members_[member]; }
  const Routes& routes() const { return routes_; }

  Status begin(std::uint32_t member, std::uint32_t bucket) {
    PeerSends out;
    TRIBUTARY_TRY(members_[member]->begin(bucket, out));
    send(member, out);
    return {};
  }
  void send(std::uint32_t from, PeerSends& sends) {
    for (PeerSend& send : sends) {
      EXPECT_LT(send.to, members_.size());
      EXPECT_NE(send.to, from);
      bytes_ += send.payload.size();
      links_[{from, send.to}].push_back(std::move(send));
    }
  }

  // Delivers the next payload of a link chosen by `draw`. Returns false if no payload is under way.
  Result<bool> deliver(std::uint32_t draw) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> busy;
    for (const auto& [ends, queue] : links_) {
      if (!queue.empty()) busy.push_back(ends);
    }
    if (busy.empty()) return false;
    const auto ends = busy[draw % busy.size()];
    std::deque<PeerSend>& queue = links_[ends];
    const auto falls = [&](std::uint32_t chance, unsigned shift) {
      return ((draw >> shift) & 255u) < chance;
    };
    const std::size_t at = falls(faults_.overtaken, 5) ? draw % queue.size() : 0;
    PeerSend send = queue[at];
    if (!falls(faults_.twice, 11)) queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
    if (falls(faults_.lost, 17)) return true;
    PeerSends out;
    TRIBUTARY_TRY(members_[ends.second]->receive(ends.first, send.piece, send.payload, out));
    this->send(ends.second, out);
    return true;
  }

  // Runs the exchange: the seed determines the order in which inputs become final and payloads
  // arrive.
  Status play(std::uint64_t seed) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ready;
    for (std::uint32_t m = 0; m < members_.size(); ++m) {
      for (std::uint32_t b = 0; b < encoders_[m].size(); ++b) ready.emplace_back(m, b);
    }
    const StreamKey key = stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data});
    for (std::uint32_t step = 0;; ++step) {
      const std::uint32_t draw = random_bits(key, step);
      if (!ready.empty() && (draw & 1u) != 0) {
        const std::size_t pick = (draw >> 1) % ready.size();
        const auto [member, bucket] = ready[pick];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
        TRIBUTARY_TRY(begin(member, bucket));
        continue;
      }
      TRIBUTARY_ASSIGN(const bool delivered, deliver(draw >> 1));
      if (!delivered && ready.empty()) return {};
    }
  }

  std::uint64_t bytes() const { return bytes_; }
  void set_faults(const Faults& faults) { faults_ = faults; }

 private:
  Routes routes_;
  std::vector<std::vector<std::unique_ptr<Encoder>>> encoders_;
  std::vector<ExchangeCache> shelves_;
  std::vector<std::unique_ptr<PeerExchange>> members_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<PeerSend>> links_;
  Faults faults_;
  std::uint64_t bytes_ = 0;
};

// Computes one bucket for all members, one after another. Only the order of the sums depends on the
// collective; fold() states it independently of Routes.
class Specification {
 public:
  Specification(const Codec& codec, wire::Collective collective,
                const std::vector<FloatVector>& updates, std::uint32_t bucket)
      : codec_(codec),
        collective_(collective),
        updates_(updates),
        bucket_(bucket),
        members_(static_cast<std::uint32_t>(updates.size())) {
    for (const FloatVector& update : updates) {
      encoders_.push_back(codec.make_encoder(static_cast<std::uint32_t>(update.size())));
      left_.emplace_back(update.size(), 0.0f);
    }
  }

  Status compute() {
    const std::size_t stages = codec_.stages().size();
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const bool last = stage + 1 == stages;
      const bool gathers = codec_.aggregation() == Aggregation::gather;
      if (codec_.stages()[stage].combine == Combine::broadcast) {
        TRIBUTARY_TRY(broadcast());
      } else if (last && (gathers || (all() && codec_.aggregation() == Aggregation::reduce))) {
        TRIBUTARY_TRY(gather());
      } else {
        TRIBUTARY_TRY(sum());
      }
    }
    return decode();
  }

  const std::vector<Bytes>& combined() const { return combined_; }  // stages before the last
  const std::vector<Bytes>& results() const { return results_; }
  const FloatVector& decoded() const { return decoded_; }
  const FloatVector& left(std::uint32_t member) const { return left_[member]; }

 private:
  bool all() const { return collective_ == wire::Collective::all_gather; }
  bool last() const { return combined_.size() + 1 == codec_.stages().size(); }
  std::vector<ByteSpan> before() const { return {combined_.begin(), combined_.end()}; }
  StageCall call(std::uint32_t member, const std::vector<ByteSpan>& before) const {
    return {.round = context(bucket_, member, members_), .combined = before};
  }
  std::uint32_t at(std::uint32_t distance) const { return (owner() + distance) % members_; }
  std::uint32_t owner() const {
    const bool fixed =
        collective_ == wire::Collective::star || collective_ == wire::Collective::tree || all();
    return fixed ? 0 : bucket_ % members_;
  }

  Result<Bytes> encode(std::uint32_t member) {
    const auto spans = before();
    Bytes payload;
    TRIBUTARY_TRY(encoders_[member]->encode(call(member, spans), updates_[member], payload));
    if (last() && !payload.empty()) {
      FloatVector decoded(updates_[member].size());
      TRIBUTARY_TRY(codec_.decode(call(member, spans), payload, decoded));
      if (codec_.lossy()) keep_residual(updates_[member], decoded, left_[member]);
    }
    return payload;
  }

  // Adds the member's own values and the given partial sums, in this order.
  Result<Bytes> add(std::uint32_t member, const std::vector<Bytes>& others, bool at_the_end) {
    const bool again = last() && codec_.aggregation() == Aggregation::reduce;
    if (!again && others.empty() && !at_the_end) return encode(member);
    const auto spans = before();
    const StageCall call = this->call(member, spans);
    const auto aggregator = codec_.make_aggregator(
        combined_.size(), static_cast<std::uint32_t>(updates_[member].size()));
    std::span<float> left;
    if (again) left = left_[member];
    TRIBUTARY_TRY(aggregator->begin(call, codec_.lossy() ? left : std::span<float>()));
    if (again) {
      TRIBUTARY_ASSIGN(const bool taken, aggregator->add_values(call, updates_[member]));
      EXPECT_TRUE(taken);
    } else {
      TRIBUTARY_ASSIGN(const Bytes own, encode(member));
      TRIBUTARY_TRY(aggregator->add(call, own));
    }
    for (const Bytes& other : others) TRIBUTARY_TRY(aggregator->add(call, other));
    Bytes sum;
    TRIBUTARY_TRY(aggregator->finish(call, sum));
    aggregator->settle(true);
    return sum;
  }

  // Combines the subtree of the member at this distance from the owner.
  Result<Bytes> fold(std::uint32_t distance) {
    std::vector<Bytes> others;
    switch (collective_) {
      case wire::Collective::ring: {
        const std::uint32_t below = distance == 0 ? members_ - 1 : distance - 1;
        if (below == 0) break;
        TRIBUTARY_ASSIGN(Bytes one, fold(below));
        others.push_back(std::move(one));
        break;
      }
      case wire::Collective::tree:
      case wire::Collective::halving_doubling:
        for (std::uint32_t bit = 1; bit < members_; bit *= 2) {
          if (distance % (2 * bit) != 0) break;
          if (distance + bit >= members_) break;
          TRIBUTARY_ASSIGN(Bytes one, fold(distance + bit));
          others.push_back(std::move(one));
        }
        break;
      default:
        for (std::uint32_t d = 1; distance == 0 && d < members_; ++d) {
          TRIBUTARY_ASSIGN(Bytes one, fold(d));
          others.push_back(std::move(one));
        }
    }
    return add(at(distance), others, distance == 0);
  }

  Status sum() {
    TRIBUTARY_ASSIGN(Bytes sum, fold(0));
    if (last()) {
      results_ = {std::move(sum)};
    } else {
      combined_.push_back(std::move(sum));
    }
    return {};
  }

  Status broadcast() {
    std::vector<Bytes> roots;
    for (std::uint32_t m = 0; m < members_; ++m) {
      TRIBUTARY_ASSIGN(Bytes payload, encode(m));
      if (!payload.empty()) roots.push_back(std::move(payload));
    }
    EXPECT_EQ(roots.size(), 1u);
    combined_.push_back(std::move(roots.at(0)));
    return {};
  }

  Status gather() {
    for (std::uint32_t m = 0; m < members_; ++m) {
      TRIBUTARY_ASSIGN(Bytes payload, encode(m));
      results_.push_back(std::move(payload));
    }
    return {};
  }

  Status decode() {
    const auto spans = before();
    decoded_.resize(updates_[0].size());
    FloatVector scratch(decoded_.size());
    for (std::size_t i = 0; i < results_.size(); ++i) {
      StageCall call = this->call(0, spans);
      call.contributors = contributors_stated(results_[i]);
      TRIBUTARY_TRY(i == 0 ? codec_.decode(call, results_[i], decoded_)
                           : codec_.decode_add(call, results_[i], scratch, decoded_));
    }
    return {};
  }

  const Codec& codec_;
  const wire::Collective collective_;
  const std::vector<FloatVector>& updates_;
  const std::uint32_t bucket_;
  const std::uint32_t members_;
  std::vector<std::unique_ptr<Encoder>> encoders_;
  std::vector<Bytes> combined_;
  std::vector<Bytes> results_;
  std::vector<FloatVector> left_;
  FloatVector decoded_;
};

}  // namespace tributary::exchange_testing
