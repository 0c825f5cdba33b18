// The codec powersgd: one step of power iteration per round (Vogels et al., Algorithm 1). With M =
// Σ M_i, the sum of the agents' matrices:
//
//   stage 0   P_i = M_i · Q of the previous round         P = Σ P_i
//   stage 1   P̂ = P with orthonormal columns, the same on every agent
//             Q_i = M_iᵀ · P̂                             Q = Σ Q_i
//   decode    P̂ · Qᵀ
//
// The first Q is drawn at random; all agents draw the same.
#include <atomic>
#include <bit>
#include <cmath>

#include "core/base/random.h"
#include "core/codec/chunks.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/lowrank/device_loops.h"
#include "core/codec/lowrank/factors.h"
#include "core/codec/lowrank/families.h"
#include "core/codec/payload.h"

namespace tributary::lowrank {
namespace {

constexpr Stage kStages[] = {{"left factors", Combine::sum}, {"right factors", Combine::sum}};

// Keeps the sum of all agents' P within float32 for any values: |P_i| ≤ cols · 2^128 · scale.
double left_scale(const Matrix& matrix, std::uint32_t agents) {
  return std::ldexp(1.0, -static_cast<int>(std::bit_width(matrix.cols)) -
                             static_cast<int>(std::bit_width(agents)) - 1);
}

MatrixView view_of(const Matrix& matrix, std::span<const float> values) {
  return {.values = values.subspan(matrix.offset, matrix.count),
          .rows = matrix.rows,
          .cols = matrix.cols};
}

bool all_finite(const Execution& execution, std::span<const float> values) {
  std::atomic<bool> finite = true;
  for_each_chunk(execution, values.size(), kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   bool sound = true;
                   for (std::size_t i = begin; i < end; ++i) sound &= std::isfinite(values[i]);
                   if (!sound) finite = false;
                 });
  return finite;
}

bool has_factors(const Matrices& matrices) { return matrices.factor_floats > 0; }

// The right factors with which all agents start a round, in the order of stage 1's body. They must
// be equal on all agents.
class Start {
 public:
  explicit Start(std::size_t rank) : rank_(rank) {}

  void remember(const Matrices& matrices, std::span<const float> right_body) {
    matrices_ = matrices;
    right_.assign(right_body.begin(),
                  right_body.begin() + static_cast<std::ptrdiff_t>(matrices.factor_floats));
  }

  // Returns the last committed factor of a matrix. Only the directions of its columns matter, so a
  // power of two brings each near 1. A column that is zero or unknown is drawn at random instead.
  FloatVector factor(const RoundContext& round, const Matrices& matrices,
                     const Matrix& matrix) const {
    FloatVector right(rank_ * matrix.cols, 0.0f);
    // After a change of the division into matrices, positions in the old body are meaningless.
    if (matrices == matrices_) {
      std::copy_n(right_.begin() + static_cast<std::ptrdiff_t>(matrix.right_at), right.size(),
                  right.begin());
    }
    for (std::size_t at = 0; at < right.size(); at += matrix.cols) {
      const auto column = std::span(right).subspan(at, matrix.cols);
      float largest = 0;
      for (const float x : column) largest = std::max(largest, std::abs(x));
      if (largest == 0) {
        draw(round, static_cast<std::uint32_t>(matrix.offset + at), column);
      } else {
        const double scale = std::ldexp(1.0, -std::ilogb(largest) - 1);
        for (float& x : column) x = static_cast<float>(static_cast<double>(x) * scale);
      }
    }
    return right;
  }

 private:
  static void draw(const RoundContext& round, std::uint32_t first, std::span<float> column) {
    const StreamKey key = stream_key({.job_seed = round.job_seed,
                                      .round = round.round,
                                      .bucket = round.bucket,
                                      .purpose = DrawPurpose::projection});
    for (std::uint32_t i = 0; i < column.size(); ++i) {
      column[i] = 2 * uniform_01(random_bits(key, first + i)) - 1;
    }
  }

  const std::size_t rank_;
  Matrices matrices_;
  FloatVector right_;
};

class PowersgdCodec final : public Codec {
 public:
  explicit PowersgdCodec(const Params& params)
      : spec_(params.canonical("powersgd")),
        rank_(static_cast<std::size_t>(params.integer("rank"))) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kStages; }
  Aggregation aggregation() const override { return Aggregation::sum; }
  bool lossy() const override { return true; }
  bool whole_layers() const override { return true; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t values) const override;
  std::unique_ptr<Aggregator> make_aggregator(std::size_t stage,
                                              std::uint32_t values) const override {
    return make_factor_aggregator(*this, rank_, stage, values);
  }
  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override;

  // Returns stage 0's combined body; it points into call.combined.
  Result<std::span<const float>> left_of(const StageCall& call, const Matrices& matrices,
                                         std::size_t values) const {
    TRIBUTARY_ASSIGN(
        const OpenPayload open,
        open_payload_of(*this, kLeftStage, values, call.execution, call.combined[kLeftStage]));
    return read_left(matrices, open);
  }

  std::size_t rank() const { return rank_; }

 private:
  const std::string spec_;
  const std::size_t rank_;
};

class PowersgdEncoder final : public Encoder {
 public:
  PowersgdEncoder(const PowersgdCodec& codec, std::uint32_t values)
      : codec_(codec), values_(values), start_(codec.rank()) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    return call.stage() == kLeftStage ? encode_left(call, values, payload)
                                      : encode_right(call, values, payload);
  }

  // Remembers the combined right factors even if this agent's contribution was not committed, so
  // that it starts the next round like all other agents.
  void settle(std::span<const ByteSpan> combined, bool) override {
    if (combined.size() != std::size(kStages)) return;
    const Result<OpenPayload> open =
        open_payload_of(codec_, kRightStage, values_, {}, combined[kRightStage]);
    if (!open.ok()) return;
    const Result<std::span<const float>> right = read_right(matrices_, *open);
    if (right.ok()) start_.remember(matrices_, *right);
  }

 private:
  std::span<float> start_body(std::size_t stage, std::size_t floats, Bytes& payload) const {
    const MutableByteSpan body = start_payload(
        {.spec = codec_.spec(), .stage = static_cast<std::uint8_t>(stage), .values = values_},
        floats * sizeof(float), payload);
    return {reinterpret_cast<float*>(body.data()), floats};
  }

  Status encode_left(const StageCall& call, std::span<const float> values, Bytes& payload) {
    TRIBUTARY_ASSIGN(matrices_, cut_into_matrices(codec_.rank(), call.round.layers, values.size()));
    const std::span<float> body = start_body(kLeftStage, matrices_.left_floats, payload);
    FloatVector right(matrices_.factor_floats);
    std::vector<double> scales(matrices_.all.size(), 0.0);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const Matrix& matrix = matrices_.all[i];
      if (!matrix.factored) {
        if (!all_finite(call.execution, view_of(matrix, values).values)) {
          return not_finite_error(values);
        }
        continue;
      }
      std::ranges::copy(start_.factor(call.round, matrices_, matrix),
                        std::span(right).subspan(matrix.right_at).begin());
      scales[i] = left_scale(matrix, call.round.agents);
    }
    std::vector<double> squares(scales.size(), 0.0);
    multiply_all(call, values, right, scales, body, squares);
    // Stage 1 must limit Q by the bounds that stage 0 sends.
    bounds_.assign(scales.size(), 0.0f);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      if (!matrices_.all[i].factored) continue;
      if (!std::isfinite(squares[i])) return not_finite_error(values);
      bounds_[i] = bound_of(squares[i], call.round.agents);
      body[matrices_.all[i].left_at] = bounds_[i];
    }
    seal_payload(call.execution, payload);
    return {};
  }

  // Sets all left factors in stage 0's body, and the sums of the squares of their matrices.
  void multiply_all(const StageCall& call, std::span<const float> values,
                    std::span<const float> right, std::span<const double> scales,
                    std::span<float> body, std::span<double> squares) const {
    const Factors factors = {.matrices = matrices_, .rank = codec_.rank()};
    if (has_factors(matrices_) &&
        encoded_on_device(call, &CodecDevice::lowrank, [&](DeviceLoops& loops) {
          return loops.multiply(factors, values, right, scales, body, squares);
        })) {
      return;
    }
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const Matrix& matrix = matrices_.all[i];
      if (!matrix.factored) continue;
      squares[i] = multiply(call.execution, view_of(matrix, values),
                            right.subspan(matrix.right_at, codec_.rank() * matrix.cols), scales[i],
                            body.subspan(matrix.left_at + 1, codec_.rank() * matrix.rows));
    }
  }

  Status encode_right(const StageCall& call, std::span<const float> values, Bytes& payload) {
    TRIBUTARY_ASSIGN(const Matrices matrices,
                     cut_into_matrices(codec_.rank(), call.round.layers, values.size()));
    if (matrices != matrices_) return out_of_step();
    TRIBUTARY_ASSIGN(const std::span<const float> left,
                     codec_.left_of(call, matrices, values.size()));
    const Projections projections = projections_of(codec_.rank(), matrices, left);
    DoubleVector right(matrices.factor_floats);
    multiply_all_transposed(call, values, projections.left, right);
    const std::span<float> body = start_body(kRightStage, matrices.right_floats, payload);
    for (std::size_t i = 0; i < matrices.all.size(); ++i) {
      const Matrix& matrix = matrices.all[i];
      if (!matrix.factored) {
        std::ranges::copy(view_of(matrix, values).values, body.subspan(matrix.right_at).begin());
        continue;
      }
      const std::size_t size = codec_.rank() * matrix.cols;
      write_right(std::span(right).subspan(matrix.right_at, size), bounds_[i],
                  projections.exponents[i], body.subspan(matrix.right_at, size));
    }
    seal_payload(call.execution, payload);
    return {};
  }

  void multiply_all_transposed(const StageCall& call, std::span<const float> values,
                               std::span<const float> left, std::span<double> right) const {
    const Factors factors = {.matrices = matrices_, .rank = codec_.rank()};
    if (has_factors(matrices_) &&
        encoded_on_device(call, &CodecDevice::lowrank, [&](DeviceLoops& loops) {
          return loops.multiply_transposed(factors, values, left, right);
        })) {
      return;
    }
    DoubleVector one;
    for (const Matrix& matrix : matrices_.all) {
      if (!matrix.factored) continue;
      multiply_transposed(call.execution, view_of(matrix, values),
                          left.subspan(matrix.left_at + 1, codec_.rank() * matrix.rows), one);
      std::ranges::copy(one, right.subspan(matrix.right_at).begin());
    }
  }

  static Status out_of_step() {
    return Status(StatusCode::invalid_argument, {.what = "right factors of powersgd",
                                                 .expected = "the layers of the left factors",
                                                 .got = "others",
                                                 .remedy = "encode stage 0 of the round first"});
  }

  const PowersgdCodec& codec_;
  const std::uint32_t values_;
  Start start_;
  Matrices matrices_;          // of the current round
  std::vector<float> bounds_;  // of this agent, one per matrix
};

std::unique_ptr<Encoder> PowersgdCodec::make_encoder(std::uint32_t values) const {
  return std::make_unique<PowersgdEncoder>(*this, values);
}

Status PowersgdCodec::decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const {
  TRIBUTARY_ASSIGN(const Matrices matrices,
                   cut_into_matrices(rank_, call.round.layers, sum.size()));
  TRIBUTARY_ASSIGN(const std::span<const float> left, left_of(call, matrices, sum.size()));
  TRIBUTARY_ASSIGN(const OpenPayload open,
                   open_payload_of(*this, kRightStage, sum.size(), call.execution, payload));
  TRIBUTARY_ASSIGN(const std::span<const float> right, read_right(matrices, open));
  for (const Matrix& matrix : matrices.all) {
    if (matrix.factored) continue;
    std::ranges::copy(right.subspan(matrix.right_at, matrix.count),
                      sum.subspan(matrix.offset).begin());
  }
  if (!has_factors(matrices)) return {};
  const Projections projections = projections_of(rank_, matrices, left);
  std::vector<double> scales;
  for (const int exponent : projections.exponents) scales.push_back(std::ldexp(1.0, exponent));
  const std::span<const float> columns = projections.left;
  if (done_on_device(call, &CodecDevice::lowrank, [&](DeviceLoops& loops) {
        return loops.expand({.matrices = matrices, .rank = rank_}, columns,
                            right.first(matrices.factor_floats), scales, sum);
      })) {
    return {};
  }
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const Matrix& matrix = matrices.all[i];
    if (!matrix.factored) continue;
    expand(call.execution, matrix.rows, matrix.cols,
           columns.subspan(matrix.left_at + 1, rank_ * matrix.rows),
           right.subspan(matrix.right_at, rank_ * matrix.cols), scales[i],
           sum.subspan(matrix.offset, matrix.count));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Codec>> make_powersgd(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<PowersgdCodec>(params));
}

}  // namespace tributary::lowrank
