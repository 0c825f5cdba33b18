// The aggregators that codecs build on: one that combines bodies element by element where they are,
// and one that decodes, adds and encodes again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"
#include "core/codec/payload.h"

namespace tributary {

// What every aggregator says when a payload would be one contributor too many for the plan, and
// when it is to finish an aggregate of nothing.
Status too_many_contributors(std::uint32_t agents, std::uint64_t contributors);
Status nothing_added();

// Checks envelopes and counts contributors; a derived class combines bodies. The combined payload's
// own body is the accumulator: no copy is made at the end.
class CombiningAggregator : public Aggregator {
 public:
  Status begin(const StageCall& call, std::span<float> residual) override;
  Status add(const StageCall& call, ByteSpan payload) override;
  Result<bool> add_values(const StageCall& call, std::span<const float> values) override;
  Status finish(const StageCall& call, Bytes& combined) override;
  std::uint32_t contributors() const override { return contributors_; }

 protected:
  CombiningAggregator(const Codec& codec, std::size_t stage, std::uint32_t values)
      : codec_(codec), stage_(stage), values_(values) {}

  // The layout and size of an accumulator that holds `agents` contributions without overflow.
  struct Shape {
    std::uint8_t layout;
    std::size_t body_bytes;
  };
  virtual Result<Shape> shape_for(std::uint32_t agents) const = 0;
  // Everything that can be wrong with a body; after it, combining can't fail.
  virtual Status check_body(const OpenPayload& payload) const = 0;
  // The first body of a round fills the accumulator, every other one is combined into it.
  virtual void combine(const Execution& execution, const OpenPayload& payload, bool first,
                       MutableByteSpan accumulator) const = 0;
  // Whether values can be added that were never encoded.
  virtual bool takes_values() const { return false; }
  // The accumulator becomes the sum of values and, where there is one, of the first payload: in one
  // pass, because for codecs that hardly compute, memory is the limit.
  virtual void start_with_values(const Execution& /*execution*/, std::span<const float> /*values*/,
                                 const OpenPayload* /*payload*/,
                                 MutableByteSpan /*accumulator*/) const {}
  // Makes of the accumulator, where it is, what goes on; says what that is.
  virtual Shape pack(const Execution& /*execution*/, MutableByteSpan accumulator) const {
    return {.layout = layout_, .body_bytes = accumulator.size()};
  }

  const Codec& codec_;
  const std::size_t stage_;
  const std::uint32_t values_;

 private:
  MutableByteSpan accumulator_;     // within payload_
  std::span<const float> waiting_;  // values that came first, and are added with what comes next
  Bytes payload_;
  std::uint8_t layout_ = 0;
  std::uint32_t agents_ = 0;
  std::uint32_t contributors_ = 0;
};

// For codecs of kind `reduce` and `gather`: decodes every payload on arrival, adds it to one
// float32 sum, and encodes the sum by the same codec. It is also where the aggregator's own error
// feedback happens: the loss of that encoding goes into the residual once the round is committed.
std::unique_ptr<Aggregator> make_decoding_aggregator(const Codec& codec, std::uint32_t values);

// Element-wise maximum of non-negative float32 bodies of `count` elements, for `max` stages.
std::unique_ptr<Aggregator> make_max_aggregator(const Codec& codec, std::size_t stage,
                                                std::uint32_t values, std::size_t count);

}  // namespace tributary
