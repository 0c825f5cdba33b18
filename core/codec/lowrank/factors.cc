#include "core/codec/lowrank/factors.h"

#include <atomic>
#include <cfloat>
#include <cmath>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/chunks.h"
#include "core/codec/finite.h"

namespace tributary::lowrank {
namespace {

constexpr int kGridBits = 23;

// Whether all values are finite and at most `most` in magnitude.
bool within(std::span<const float> values, float most) {
  // A loop without an early exit is vectorized.
  bool sound = true;
  for (const float x : values) sound &= std::abs(x) <= most;
  return sound;
}

Result<std::span<const float>> floats_of(const OpenPayload& payload, std::size_t count) {
  if (payload.body.size() != count * sizeof(float)) {
    return wrong_body_size("powersgd factors", count * sizeof(float), payload.body.size());
  }
  return std::span(reinterpret_cast<const float*>(payload.body.data()), count);
}

Status wrong_factors(std::string_view expected) {
  return not_addable_error("powersgd factors", std::string(expected),
                           "something else, which no encoder writes");
}

// Adds the factors of one stage. It derives the matrices from the plan in begin(), like every
// agent.
class FactorAggregator final : public CombiningAggregator {
 public:
  FactorAggregator(const Codec& codec, std::size_t rank, std::size_t stage, std::uint32_t values)
      : CombiningAggregator(codec, stage, values), rank_(rank) {}

  Status begin(const StageCall& call, std::span<float> residual) override {
    TRIBUTARY_ASSIGN(matrices_, cut_into_matrices(rank_, call.round.layers, values_));
    return CombiningAggregator::begin(call, residual);
  }

 private:
  Result<Shape> shape_for(std::uint32_t) const override {
    const std::size_t floats =
        stage_ == kLeftStage ? matrices_.left_floats : matrices_.right_floats;
    return Shape{.layout = 0, .body_bytes = floats * sizeof(float)};
  }

  Status check_addable(const StageCall& call, UncheckedPayload& payload) const override {
    return check_addable_floats("powersgd factors", call, payload, payload.header().contributors);
  }

  Status check_body(const OpenPayload& payload) const override {
    const auto read = stage_ == kLeftStage ? read_left : read_right;
    return read(matrices_, payload).status();
  }

  void combine(const Execution& execution, const OpenPayload& payload, bool first,
               MutableByteSpan accumulator) const override {
    const auto* const x = reinterpret_cast<const float*>(payload.body.data());
    auto* const sum = reinterpret_cast<float*>(accumulator.data());
    for_each_chunk(execution, accumulator.size() / sizeof(float), kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     if (first) {
                       std::memcpy(sum + begin, x + begin, (end - begin) * sizeof(float));
                       return;
                     }
                     for (std::size_t i = begin; i < end; ++i) {
                       sum[i] = std::min(FLT_MAX, std::max(-FLT_MAX, sum[i] + x[i]));
                     }
                   });
  }

  const std::size_t rank_;
  Matrices matrices_;
};

}  // namespace

float bound_of(double sum_of_squares, std::uint32_t agents) {
  return static_cast<float>(std::min(std::sqrt(sum_of_squares), double{addend_max(agents)}));
}

int exponent_of(float sum_of_bounds) {
  int exponent = 0;
  // frexp gives sum = f · 2^e with f < 1, so 2^e exceeds the sum.
  std::frexp(sum_of_bounds, &exponent);
  return exponent;
}

void write_right(std::span<const double> values, float bound, int exponent, std::span<float> out) {
  const double to_grid = std::ldexp(1.0, kGridBits - exponent);
  // The limit of 2^23 grid steps keeps every value exact in float32 and within 1 in magnitude.
  const double most = std::min(static_cast<double>(bound) * to_grid, std::ldexp(1.0, kGridBits));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double steps = std::rint(std::min(most, std::max(-most, values[i] * to_grid)));
    out[i] = static_cast<float>(steps) * 0x1p-23f;
  }
}

Result<std::span<const float>> read_left(const Matrices& matrices, const OpenPayload& payload) {
  TRIBUTARY_ASSIGN(const std::span<const float> body, floats_of(payload, matrices.left_floats));
  bool sound = within(body, FLT_MAX);
  for (const Matrix& matrix : matrices.all) {
    // The first float of each factored matrix is its bound.
    if (matrix.factored) sound &= body[matrix.left_at] >= 0;
  }
  if (sound) return body;
  return wrong_factors("finite numbers and no negative bound");
}

Result<std::span<const float>> read_right(const Matrices& matrices, const OpenPayload& payload) {
  TRIBUTARY_ASSIGN(const std::span<const float> body, floats_of(payload, matrices.right_floats));
  const auto most = static_cast<float>(payload.header.contributors);
  if (within(body.first(matrices.factor_floats), most) &&
      within(body.subspan(matrices.factor_floats), FLT_MAX)) {
    return body;
  }
  return wrong_factors("finite numbers, and factors no larger than their contributors make them");
}

Projections projections_of(std::size_t rank, const Matrices& matrices,
                           std::span<const float> left_body) {
  Projections all = {.left = FloatVector(left_body.begin(), left_body.end()), .exponents = {}};
  for (const Matrix& matrix : matrices.all) {
    all.exponents.push_back(matrix.factored ? exponent_of(left_body[matrix.left_at]) : 0);
    if (!matrix.factored) continue;
    orthonormalise(matrix.rows,
                   std::span(all.left).subspan(matrix.left_at + 1, rank * matrix.rows));
  }
  return all;
}

std::unique_ptr<Aggregator> make_factor_aggregator(const Codec& codec, std::size_t rank,
                                                   std::size_t stage, std::uint32_t values) {
  return std::make_unique<FactorAggregator>(codec, rank, stage, values);
}

}  // namespace tributary::lowrank
