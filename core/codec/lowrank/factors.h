// The bodies of PowerSGD's two stages: their layout, their checks and their aggregator.
//
//   stage 0, sum: for every factored matrix its bound, f32, then its left factor P, f32
//   stage 1, sum: the right factors Q of all of them, f32; then the raw layers, f32
//
// An agent's bound is the length of its whole matrix, so no value of its Q is larger. Let S be the
// sum of all bounds, and 2^e a power of two of at least S. Agents send Q / 2^e rounded to multiples
// of 2^-23. No sum of such values, over any number of agents, exceeds S / 2^e, and every sum is
// exact in float32. The order of addition therefore changes nothing, and the agents' residuals are
// exactly the part that the sum lacks.
//
// All functions are pure. Bodies are untrusted and are checked by read_left() and read_right().
#pragma once

#include <memory>
#include <vector>

#include "core/codec/codec.h"
#include "core/codec/lowrank/algebra.h"
#include "core/codec/lowrank/matrices.h"
#include "core/codec/payload.h"

namespace tributary::lowrank {

// Indices of the two stages.
constexpr std::size_t kLeftStage = 0;
constexpr std::size_t kRightStage = 1;

// An agent's bound for a matrix. It is limited so that the bounds of all agents cannot add up to
// infinity. A value above the limit is cut, and the cut part stays in the residual.
float bound_of(double sum_of_squares, std::uint32_t agents);

// The exponent e: a value is sent as value / 2^e. It is negative for small values.
int exponent_of(float sum_of_bounds);

// Writes values / 2^e as multiples of 2^-23. Values above `bound` in magnitude are cut to it. Both
// spans have the same length.
void write_right(std::span<const double> values, float bound, int exponent, std::span<float> out);

// Check a body's size and every number in it (corrupt_data), and return its numbers, which point
// into the payload. A right factor may not exceed the number of contributors.
Result<std::span<const float>> read_left(const Matrices& matrices, const OpenPayload& payload);
Result<std::span<const float>> read_right(const Matrices& matrices, const OpenPayload& payload);

// The projections of all matrices, from stage 0's combined body. All agents compute the same.
struct Projections {
  FloatVector left;            // orthonormal columns, where that body has the left factors
  std::vector<int> exponents;  // one per matrix; 0 if it is not factored
};
Projections projections_of(std::size_t rank, const Matrices& matrices,
                           std::span<const float> left_body);

// Makes the aggregator of either stage. It adds bodies element by element. Raw values saturate at
// the largest float32 instead of becoming infinite.
std::unique_ptr<Aggregator> make_factor_aggregator(const Codec& codec, std::size_t rank,
                                                   std::size_t stage, std::uint32_t values);

}  // namespace tributary::lowrank
