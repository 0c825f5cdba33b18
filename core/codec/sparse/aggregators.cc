#include "core/codec/sparse/aggregators.h"

#include <atomic>
#include <cmath>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/finite.h"
#include "core/codec/sparse/kernels.h"
#include "core/codec/sparse/sparse_body.h"

namespace tributary::sparse {
namespace {

Status beyond_float() {
  return not_addable_error("sum of sparse payloads", "numbers within the range of float32",
                           "a payload that leads beyond it");
}

// Adds sparse payloads. sum_ is zero for every element without a bit in touched_.
class SparseSumAggregator final : public Aggregator {
 public:
  SparseSumAggregator(const Codec& codec, std::uint32_t values)
      : codec_(codec), sum_(values, 0.0f), touched_((std::size_t{values} + 63) / 64, 0) {}

  Status begin(const StageCall& call, std::span<float>) override {
    clear(call.execution);
    agents_ = call.round.agents;
    contributors_ = 0;
    return {};
  }

  // Everything is checked before sum_ changes, so a refused payload leaves the aggregate unchanged.
  Status add(const StageCall& call, ByteSpan payload) override {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(codec_, call.stage(), sum_.size(), call.execution, payload));
    const std::uint64_t total = std::uint64_t{contributors_} + open.header.contributors;
    if (total > agents_) return too_many_contributors(agents_, total);
    TRIBUTARY_TRY(read_sparse_values(call.execution, open, arrived_));
    const std::uint32_t contributors = open.header.contributors;
    if (call.finite_only && !within_magnitude(arrived_.values, addend_max(call, contributors))) {
      return beyond_addend_error("values of a sparse payload", call, contributors);
    }
    TRIBUTARY_TRY(add_arrived(call.execution));
    contributors_ = static_cast<std::uint32_t>(total);
    return {};
  }

  Status finish(const StageCall& call, Bytes& combined) override {
    if (contributors_ == 0) return nothing_added();
    places_of(call.execution, touched_, places_);
    write_sparse_values(call.execution,
                        {.spec = codec_.spec(),
                         .stage = static_cast<std::uint8_t>(call.stage()),
                         .contributors = contributors_,
                         .values = static_cast<std::uint32_t>(sum_.size())},
                        IndexChoice::smallest, places_, sum_, combined);
    seal_payload(call.execution, combined);
    agents_ = 0;  // refuses payloads that arrive after finish()
    return {};
  }

  std::uint32_t contributors() const override { return contributors_; }

 private:
  // Clears only the touched elements, because a sparse round touches few.
  void clear(const Execution& execution) {
    places_of(execution, touched_, places_);
    for (const std::uint32_t place : places_) sum_[place] = 0;
    std::ranges::fill(touched_, 0);
  }

  // Computes the new sums separately and checks them, so that a refused payload leaves no trace.
  Status add_arrived(const Execution& execution) {
    const SparseValues& in = arrived_;
    sums_.resize(in.indices.size());
    std::atomic<bool> finite = true;
    for_each_chunk(execution, in.indices.size(), kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     bool good = true;
                     for (std::size_t i = begin; i < end; ++i) {
                       sums_[i] = sum_[in.indices[i]] + in.values[i];
                       good &= std::isfinite(sums_[i]);
                     }
                     if (!good) finite = false;
                   });
    if (!finite) return beyond_float();
    static_assert(kChunkValues % 64 == 0, "no word of the bitmap belongs to two chunks");
    for_each_range(execution, in.indices, sum_.size(),
                   [&](std::size_t, std::size_t, std::size_t first, std::size_t last) {
                     for (std::size_t i = first; i < last; ++i) {
                       const std::uint32_t place = in.indices[i];
                       sum_[place] = sums_[i];
                       touched_[place / 64] |= std::uint64_t{1} << (place % 64);
                     }
                   });
    return {};
  }

  const Codec& codec_;
  FloatVector sum_;
  RawVector<std::uint64_t> touched_;  // one bit per element that a payload has named
  IndexVector places_;
  SparseValues arrived_;
  FloatVector sums_;
  std::uint32_t agents_ = 0;
  std::uint32_t contributors_ = 0;
};

// Adds bodies of float32 whose positions all agents know.
// Without StageCall::finite_only additions may reach Inf, which decode() then refuses in the
// combined payload.
class ValueSumAggregator final : public CombiningAggregator {
 public:
  ValueSumAggregator(const Codec& codec, std::size_t stage, std::uint32_t values, std::size_t count)
      : CombiningAggregator(codec, stage, values), count_(count) {}

 private:
  Result<Shape> shape_for(std::uint32_t) const override {
    return Shape{.layout = 0, .body_bytes = count_ * sizeof(float)};
  }
  Status check_addable(const StageCall& call, UncheckedPayload& payload) const override {
    return check_addable_floats("values at agreed places", call, payload,
                                payload.header().contributors);
  }
  Status check_body(const OpenPayload& payload) const override {
    return read_value_sums({}, payload, count_).status();
  }
  void combine(const Execution& execution, const OpenPayload& payload, bool first,
               MutableByteSpan accumulator) const override {
    const auto* const x = reinterpret_cast<const float*>(payload.body.data());
    auto* const sum = reinterpret_cast<float*>(accumulator.data());
    for_each_chunk(execution, count_, kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     if (first) {
                       std::memcpy(sum + begin, x + begin, (end - begin) * sizeof(float));
                     } else {
                       kernels(execution.backend).add_floats(x + begin, end - begin, sum + begin);
                     }
                   });
  }

  const std::size_t count_;
};

}  // namespace

std::unique_ptr<Aggregator> make_sparse_sum_aggregator(const Codec& codec, std::uint32_t values) {
  return std::make_unique<SparseSumAggregator>(codec, values);
}

std::unique_ptr<Aggregator> make_value_sum_aggregator(const Codec& codec, std::size_t stage,
                                                      std::uint32_t values, std::size_t count) {
  return std::make_unique<ValueSumAggregator>(codec, stage, values, count);
}

Result<std::span<const float>> read_value_sums(const Execution& execution,
                                               const OpenPayload& payload, std::size_t count) {
  if (payload.body.size() != count * sizeof(float)) {
    return wrong_body_size("values at agreed places", count * sizeof(float), payload.body.size());
  }
  const std::span<const float> values(reinterpret_cast<const float*>(payload.body.data()), count);
  TRIBUTARY_TRY(check_finite_body(execution, values));
  return values;
}

}  // namespace tributary::sparse
