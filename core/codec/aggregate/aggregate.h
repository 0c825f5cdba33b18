// Base classes and factories of aggregators for codecs: one kind combines payload bodies in place,
// the other decodes, adds and encodes again.
//
// The contract is that of Aggregator (core/codec/codec.h). The codec must outlive its aggregators.
// Every payload is untrusted: its envelope, its number of contributors and its body are checked
// before the accumulator changes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"
#include "core/codec/payload.h"

namespace tributary {

// The errors that all aggregators share: a payload would exceed the planned number of contributors
// (resource_exhausted), and finish() was called before any payload was added (unavailable).
Status too_many_contributors(std::uint32_t agents, std::uint64_t contributors);
Status nothing_added();

// Refuses a body of float32 values that the sum of `contributors` agents cannot have. It compares
// them while it hashes them, so they cross the memory bus once. The body's size is not checked.
Status check_addable_floats(std::string_view what, const StageCall& call, UncheckedPayload& payload,
                            std::uint32_t contributors);

// Checks envelopes and counts contributors; a derived class combines the bodies. The accumulator is
// the body of the future combined payload, so no copy is made at the end.
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

  // The layout and size of an accumulator that can hold `agents` contributions without overflow.
  struct Shape {
    std::uint8_t layout;
    std::size_t body_bytes;
  };
  virtual Result<Shape> shape_for(std::uint32_t agents) const = 0;
  // For calls with finite_only: refuses numbers whose sum over all agents could overflow. It hashes
  // the blocks that it reads, so that no block is loaded twice. The body is unchecked. Bodies of
  // integers have nothing to refuse here: check_body() compares them with their contributors.
  virtual Status check_addable(const StageCall& call, UncheckedPayload& payload) const = 0;
  // Checks everything in a body that can be wrong. combine() cannot fail after this has succeeded.
  virtual Status check_body(const OpenPayload& payload) const = 0;
  // Combines a body into the accumulator. The first body of a round initializes it instead, because
  // its previous content is undefined.
  virtual void combine(const Execution& execution, const OpenPayload& payload, bool first,
                       MutableByteSpan accumulator) const = 0;
  // Whether the aggregator can add values that were not encoded. If so, start_with_values() is
  // implemented.
  virtual bool takes_values() const { return false; }
  // Sets the accumulator to the sum of `values` and of the payload, if it is not null. It does both
  // in one pass, because codecs with little computation are limited by memory bandwidth.
  virtual void start_with_values(const Execution& /*execution*/, std::span<const float> /*values*/,
                                 const OpenPayload* /*payload*/,
                                 MutableByteSpan /*accumulator*/) const {}
  // Converts the accumulator in place to the body of the combined payload, for example to narrower
  // fields, and returns the body's layout and size.
  virtual Shape pack(const Execution& /*execution*/, MutableByteSpan accumulator) const {
    return {.layout = layout_, .body_bytes = accumulator.size()};
  }

  const Codec& codec_;
  const std::size_t stage_;
  const std::uint32_t values_;

 private:
  MutableByteSpan accumulator_;     // points into payload_
  std::span<const float> waiting_;  // values that wait for the first payload or finish()
  Bytes payload_;
  std::uint8_t layout_ = 0;
  std::uint32_t agents_ = 0;
  std::uint32_t contributors_ = 0;
};

// Makes an aggregator for codecs with Aggregation::reduce or gather. It decodes each payload on
// arrival, adds it to a float32 sum, and encodes the sum with the same codec. It also applies the
// aggregator's error feedback: when the round is committed, the loss of that encoding is stored in
// the residual. Memory: two float32 copies of the bucket during a round.
std::unique_ptr<Aggregator> make_decoding_aggregator(const Codec& codec, std::uint32_t values);

// Makes an aggregator for `max` stages: the element-wise maximum of bodies with `count`
// non-negative, finite float32 elements.
std::unique_ptr<Aggregator> make_max_aggregator(const Codec& codec, std::size_t stage,
                                                std::uint32_t values, std::size_t count);

}  // namespace tributary
