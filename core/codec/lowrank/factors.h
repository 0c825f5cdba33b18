// The bodies of PowerSGD's two stages, and what may be in them.
//
//   stage 0, sum: for every factored matrix its bound, f32, then its left factor P, f32
//   stage 1, sum: the right factors Q of all of them, f32; then the raw layers, f32
//
// An agent's bound is the length of its whole matrix, so that no value of its Q is larger. With 2^e
// no less than the sum S of all bounds, agents send Q / 2^e rounded to multiples of 2^-23: however
// many of them are added, no sum passes S / 2^e, and every one is exact in float32. So the order of
// addition changes nothing, and what agents keep as residuals is exactly what the sum lacks.
#pragma once

#include <memory>

#include "core/codec/codec.h"
#include "core/codec/lowrank/algebra.h"
#include "core/codec/lowrank/matrices.h"
#include "core/codec/payload.h"

namespace tributary::lowrank {

constexpr std::size_t kLeftStage = 0;
constexpr std::size_t kRightStage = 1;

// Bounds are cut so that no number of agents can add them up to infinity; what that cuts off a
// value stays in the residual.
float bound_of(double sum_of_squares, std::uint32_t agents);

// e: a value is sent as value / 2^e. Below zero for small values.
int exponent_of(float sum_of_bounds);

// Writes values / 2^e onto the grid of 2^-23, none beyond `bound`.
void write_right(std::span<const double> values, float bound, int exponent, std::span<float> out);

// A body's numbers after its size and all of them were checked; contributors can't make a right
// factor larger than their number.
Result<std::span<const float>> read_left(const Matrices& matrices, const OpenPayload& payload);
Result<std::span<const float>> read_right(const Matrices& matrices, const OpenPayload& payload);

// What stage 0's combined payload comes to for one matrix: the same for all agents.
struct Projection {
  FloatVector left;  // orthonormal columns
  int exponent;
};
Projection projection_of(std::size_t rank, const Matrix& matrix, std::span<const float> left_body);

// Adds bodies of either stage. Raw values saturate rather than become infinite.
std::unique_ptr<Aggregator> make_factor_aggregator(const Codec& codec, std::size_t rank,
                                                   std::size_t stage, std::uint32_t values);

}  // namespace tributary::lowrank
