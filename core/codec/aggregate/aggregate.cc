#include "core/codec/aggregate/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/codec/chunks.h"
#include "core/codec/error_feedback.h"
#include "core/codec/finite.h"

namespace tributary {

Status too_many_contributors(std::uint32_t agents, std::uint64_t contributors) {
  return Status(StatusCode::resource_exhausted,
                {.what = "contributors of an aggregate",
                 .expected = fmt::format("at most the {} agents of the plan", agents),
                 .got = fmt::format("{}", contributors),
                 .remedy = "plan the round for more agents; the sum's width follows from them"});
}

Status nothing_added() {
  return Status(StatusCode::unavailable, {.what = "aggregate",
                                          .expected = "one contribution or more",
                                          .got = "none",
                                          .remedy = "abort the round"});
}

namespace {

// Bodies are float32 magnitudes. The check refuses negative values, so that the maximum does not
// depend on the sign of a zero.
class MaxAggregator final : public CombiningAggregator {
 public:
  MaxAggregator(const Codec& codec, std::size_t stage, std::uint32_t values, std::size_t count)
      : CombiningAggregator(codec, stage, values), count_(count) {}

 private:
  Result<Shape> shape_for(std::uint32_t) const override {
    return Shape{.layout = 0, .body_bytes = count_ * sizeof(float)};
  }

  // A magnitude of values that can be added can be added itself.
  Status check_addable(const StageCall& call, UncheckedPayload& payload) const override {
    return check_addable_floats("magnitudes of a max stage", call, payload, 1);
  }

  Status check_body(const OpenPayload& payload) const override {
    if (payload.body.size() != count_ * sizeof(float)) {
      return wrong_body_size("body of a max stage", count_ * sizeof(float), payload.body.size());
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const float value = element(payload.body.data(), i);
      if (std::isfinite(value) && !std::signbit(value)) continue;
      return not_addable_error(fmt::format("element {} of a max stage", i), "a finite magnitude",
                               fmt::format("{}", value));
    }
    return {};
  }

  void combine(const Execution&, const OpenPayload& payload, bool first,
               MutableByteSpan accumulator) const override {
    if (first) {
      if (count_ > 0) std::memcpy(accumulator.data(), payload.body.data(), accumulator.size());
      return;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const float larger =
          std::max(element(accumulator.data(), i), element(payload.body.data(), i));
      std::memcpy(accumulator.data() + i * sizeof(float), &larger, sizeof(float));
    }
  }

  static float element(const std::uint8_t* body, std::size_t index) {
    float value;
    std::memcpy(&value, body + index * sizeof(float), sizeof(float));
    return value;
  }

  const std::size_t count_;
};

// Encodes with an encoder of its own, whose memory is that of the aggregate and not of an agent.
class DecodingAggregator final : public Aggregator {
 public:
  DecodingAggregator(const Codec& codec, std::uint32_t values)
      : codec_(codec), values_(values), encoder_(codec.make_encoder(values)) {}

  Status begin(const StageCall& call, std::span<float> residual) override {
    assert(residual.empty() || residual.size() == values_);
    residual_ = residual;
    // Allocated here and released in settle(), so that an idle aggregator needs no memory of the
    // size of its bucket.
    sum_.resize(values_);
    agents_ = call.round.agents;
    contributors_ = 0;
    return {};
  }

  // decode() and decode_add() check the body. A refused payload leaves the aggregate unchanged,
  // because contributors_ changes last and decode() into sum_ occurs only while the sum is still
  // empty.
  Status add(const StageCall& call, ByteSpan payload) override {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(codec_, call.stage(), values_, call.execution, payload));
    const std::uint64_t total = std::uint64_t{contributors_} + open.header.contributors;
    if (total > agents_) return too_many_contributors(agents_, total);
    if (contributors_ == 0) {
      TRIBUTARY_TRY(codec_.decode(call, payload, sum_));
      contributors_ = open.header.contributors;
      return {};
    }
    FloatVector decoded(values_);  // of one bucket at a time
    TRIBUTARY_TRY(codec_.decode_add(call, payload, decoded, sum_));
    contributors_ = static_cast<std::uint32_t>(total);
    return {};
  }

  // An agent that forwards a sum adds its own values without encoding them, which avoids one loss.
  Result<bool> add_values(const StageCall& call, std::span<const float> values) override {
    if (codec_.aggregation() != Aggregation::reduce) return false;
    assert(values.size() == values_);
    if (contributors_ >= agents_) return too_many_contributors(agents_, contributors_ + 1ull);
    if (contributors_ == 0) {
      std::ranges::copy(values, sum_.begin());
    } else {
      tributary::add_values(call.execution, values, sum_);
    }
    ++contributors_;
    return true;
  }

  Status finish(const StageCall& call, Bytes& combined) override {
    if (contributors_ == 0) return nothing_added();
    // The same codec encodes the sum; `contributors` tells the decoder how many updates it
    // represents.
    if (!residual_.empty()) tributary::add_values(call.execution, residual_, sum_);
    StageCall summed = call;
    summed.contributors = contributors_;
    TRIBUTARY_TRY(encoder_->encode(summed, sum_, combined));
    if (residual_.empty()) {
      FloatVector().swap(sum_);
      return {};
    }
    // From here on the sum is the residual of a committed round. The encoder's unused memory is
    // free before the decoded values need some.
    release_unused(combined);
    FloatVector decoded(values_);
    TRIBUTARY_TRY(codec_.decode(summed, combined, decoded));
    keep_residual(call.execution, sum_, decoded, sum_);
    return {};
  }

  // Keeps the encoder's memory, and releases an array of the bucket's size until the next round.
  void settle(bool committed) override {
    if (committed && !residual_.empty()) std::ranges::copy(sum_, residual_.begin());
    FloatVector().swap(sum_);
    agents_ = 0;  // refuses payloads that arrive after settle()
  }

  std::uint32_t contributors() const override { return contributors_; }

 private:
  const Codec& codec_;
  const std::uint32_t values_;
  std::unique_ptr<Encoder> encoder_;
  FloatVector sum_;
  std::span<float> residual_;
  std::uint32_t agents_ = 0;
  std::uint32_t contributors_ = 0;
};

}  // namespace

Status check_addable_floats(std::string_view what, const StageCall& call, UncheckedPayload& payload,
                            std::uint32_t contributors) {
  const ByteSpan body = payload.body();
  const auto* const x = reinterpret_cast<const float*>(body.data());
  const float limit = addend_max(call, contributors);
  std::atomic<bool> addable = true;
  for_each_chunk(call.execution, body.size() / sizeof(float), kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   payload.hash(begin * sizeof(float), end * sizeof(float));
                   if (!within_magnitude({x + begin, end - begin}, limit)) addable = false;
                 });
  return addable ? Status() : beyond_addend_error(std::string(what), call, contributors);
}

Status CombiningAggregator::begin(const StageCall& call, std::span<float>) {
  assert(call.stage() == stage_);
  agents_ = call.round.agents;
  contributors_ = 0;
  waiting_ = {};
  TRIBUTARY_ASSIGN(const Shape shape, shape_for(agents_));
  layout_ = shape.layout;
  accumulator_ = start_payload({.spec = codec_.spec(),
                                .stage = static_cast<std::uint8_t>(stage_),
                                .layout = shape.layout,
                                .contributors = 1,
                                .values = values_},
                               shape.body_bytes, payload_);
  return {};
}

Status CombiningAggregator::add(const StageCall& call, ByteSpan payload) {
  TRIBUTARY_ASSIGN(UncheckedPayload unchecked,
                   UncheckedPayload::open(codec_, stage_, values_, call.execution, payload));
  const Status addable = call.finite_only ? check_addable(call, unchecked) : Status();
  TRIBUTARY_TRY(unchecked.check(call.execution));
  const OpenPayload& open = unchecked.opened();
  const std::uint64_t total = std::uint64_t{contributors_} + open.header.contributors;
  if (total > agents_) return too_many_contributors(agents_, total);
  TRIBUTARY_TRY(check_body(open));
  TRIBUTARY_TRY(addable);
  if (waiting_.empty()) {
    combine(call.execution, open, contributors_ == 0, accumulator_);
  } else {
    start_with_values(call.execution, std::exchange(waiting_, {}), &open, accumulator_);
  }
  contributors_ = static_cast<std::uint32_t>(total);
  return {};
}

Result<bool> CombiningAggregator::add_values(const StageCall&, std::span<const float> values) {
  if (!takes_values() || contributors_ != 0) return false;
  assert(values.size() == values_);
  waiting_ = values;
  contributors_ = 1;
  return true;
}

Status CombiningAggregator::finish(const StageCall& call, Bytes& combined) {
  if (contributors_ == 0) return nothing_added();
  if (!waiting_.empty()) start_with_values(call.execution, waiting_, nullptr, accumulator_);
  waiting_ = {};
  set_contributors(contributors_, payload_);
  // pack() may narrow the fields, because the actual contributors may be fewer than planned.
  const Shape packed = pack(call.execution, accumulator_);
  set_layout(packed.layout, payload_);
  shrink_body(packed.body_bytes, payload_);
  seal_payload(call.execution, payload_);
  combined.swap(payload_);
  agents_ = 0;  // refuses payloads that arrive after finish()
  return {};
}

std::unique_ptr<Aggregator> make_decoding_aggregator(const Codec& codec, std::uint32_t values) {
  return std::make_unique<DecodingAggregator>(codec, values);
}

std::unique_ptr<Aggregator> make_max_aggregator(const Codec& codec, std::size_t stage,
                                                std::uint32_t values, std::size_t count) {
  return std::make_unique<MaxAggregator>(codec, stage, values, count);
}

}  // namespace tributary
