#include "core/codec/thc/sum_aggregator.h"

#include <array>
#include <atomic>
#include <cassert>
#include <cstring>

#include "core/codec/thc/body.h"
#include "core/codec/thc/kernels.h"
#include "core/codec/thc/packing.h"

namespace tributary::thc {
namespace {

constexpr std::size_t kPiece = 4096;  // sums unpacked at a time, in the first-level cache

// Overloads that select the kernel by the type of the sum.
void look_up_add(const Kernels& k, const std::uint8_t* level, std::size_t n, const Levels& levels,
                 std::uint8_t* sum) {
  k.look_up_add8(level, n, levels, sum);
}
void look_up_add(const Kernels& k, const std::uint8_t* level, std::size_t n, const Levels& levels,
                 std::uint16_t* sum) {
  k.look_up_add16(level, n, levels, sum);
}
void look_up_add(const Kernels& k, const std::uint8_t* level, std::size_t n, const Levels& levels,
                 std::uint32_t* sum) {
  k.look_up_add32(level, n, levels, sum);
}

class SumAggregator final : public CombiningAggregator {
 public:
  SumAggregator(const Codec& codec, std::uint32_t values, const Options& options)
      : CombiningAggregator(codec, 1, values),
        options_(options),
        coordinates_(options.layout(values).coordinates()) {}

  Status begin(const StageCall& call, std::span<float> residual) override {
    // The table depends on the planned number of agents, which may change from round to round.
    TRIBUTARY_ASSIGN(levels_, options_.levels_for(call.round.agents));
    return CombiningAggregator::begin(call, residual);
  }

 private:
  Result<Shape> shape_for(std::uint32_t) const override {
    return Shape{.layout = static_cast<std::uint8_t>(levels_->sum_bits),
                 .body_bytes = kStampBytes + coordinates_ * lane_bytes(levels_->sum_bits)};
  }

  // Every pattern of a level is valid. A sum must be one that its contributors can produce. At most
  // the planned number of contributors is added, so the total cannot overflow.
  Status check_body(const OpenPayload& payload) const override {
    TRIBUTARY_ASSIGN(const Fields fields, open_fields(payload, *levels_, coordinates_));
    if (!fields.sums) return {};
    const std::uint64_t bound = std::uint64_t{levels_->granularity} * fields.contributors;
    bool within = true;
    with_lane(levels_->sum_bits, [&](auto lane) {
      for_each_piece({}, fields, lane, [&](std::size_t, const auto* sums, std::size_t n) {
        decltype(lane) largest = 0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, sums[i]);
        within &= largest <= bound;
      });
    });
    return within ? Status() : sum_too_large(*levels_, fields.contributors);
  }

  void combine(const Execution& execution, const OpenPayload& payload, bool first,
               MutableByteSpan accumulator) const override {
    if (first) write_stamp(*levels_, accumulator.data());
    const Fields fields = {.data = payload.body.data() + kStampBytes,
                           .sums = payload.header.layout != kLevelsLayout,
                           .contributors = payload.header.contributors,
                           .sum_bits = levels_->sum_bits_of(payload.header.contributors)};
    with_lane(levels_->sum_bits, [&](auto lane) {
      auto* const sums = reinterpret_cast<decltype(lane)*>(accumulator.data() + kStampBytes);
      if (fields.sums) {
        for_each_piece(execution, fields, lane,
                       [&](std::size_t begin, const auto* added, std::size_t n) {
                         add_sums(added, n, first, sums + begin);
                       });
      } else {
        add_levels(execution, fields, first, sums);
      }
    });
  }

  template <typename Lane>
  static void add_sums(const Lane* added, std::size_t n, bool first, Lane* sums) {
    if (first) {
      std::memcpy(sums, added, n * sizeof(Lane));
    } else {
      for (std::size_t i = 0; i < n; ++i) sums[i] = static_cast<Lane>(sums[i] + added[i]);
    }
  }

  template <typename Lane>
  void add_levels(const Execution& execution, const Fields& fields, bool first, Lane* sums) const {
    const Kernels& k = kernels(execution.backend);
    for_each_chunk(execution, coordinates_, kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     alignas(64) std::array<std::uint8_t, kPiece> level;
                     for (std::size_t at = begin; at < end; at += kPiece) {
                       const std::size_t n = std::min(kPiece, end - at);
                       const std::uint8_t* const in = fields.data + fields_bytes(at, levels_->bits);
                       if (levels_->bits == 4) {
                         k.unpack_nibbles(in, n, level.data());
                       } else {
                         unpack_fields(in, n, levels_->bits, level.data());
                       }
                       // Clearing here, piece by piece, saves a separate pass over the accumulator.
                       if (first) std::memset(sums + at, 0, n * sizeof(Lane));
                       look_up_add(k, level.data(), n, *levels_, sums + at);
                     }
                   });
  }

  // Calls visit(begin, sums, n) for all sums of a body, unpacked piece by piece.
  template <typename Lane, typename Visit>
  void for_each_piece(const Execution& execution, const Fields& fields, Lane,
                      const Visit& visit) const {
    for_each_chunk(execution, coordinates_, kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     alignas(64) std::array<Lane, kPiece> sums;
                     for (std::size_t at = begin; at < end; at += kPiece) {
                       const std::size_t n = std::min(kPiece, end - at);
                       unpack_fields(fields.data + fields_bytes(at, fields.sum_bits), n,
                                     fields.sum_bits, sums.data());
                       visit(at, sums.data(), n);
                     }
                   });
  }

  // Packs every chunk at its own start, in parallel, and then moves the chunks together.
  Shape pack(const Execution& execution, MutableByteSpan accumulator) const override {
    const unsigned bits = levels_->sum_bits_of(contributors());
    const auto layout = static_cast<std::uint8_t>(bits);
    std::uint8_t* const fields = accumulator.data() + kStampBytes;
    // The lanes already have the width of the fields.
    if (bits == 8 * lane_bytes(levels_->sum_bits)) {
      return {.layout = layout, .body_bytes = accumulator.size()};
    }
    with_lane(levels_->sum_bits, [&](auto lane) {
      using Lane = decltype(lane);
      for_each_chunk(execution, coordinates_, kChunkValues,
                     [&](std::size_t, std::size_t begin, std::size_t end) {
                       std::uint8_t* const chunk = fields + begin * sizeof(Lane);
                       pack_fields(reinterpret_cast<const Lane*>(chunk), end - begin, bits, chunk);
                     });
      // In ascending order, so that a move never overwrites a chunk that was not moved yet.
      for (std::size_t at = 0; at < coordinates_; at += kChunkValues) {
        const std::size_t n = std::min(kChunkValues, coordinates_ - at);
        std::memmove(fields + fields_bytes(at, bits), fields + at * sizeof(Lane),
                     fields_bytes(n, bits));
      }
    });
    return {.layout = layout, .body_bytes = kStampBytes + fields_bytes(coordinates_, bits)};
  }

  const Options options_;
  const std::size_t coordinates_;
  std::shared_ptr<const Levels> levels_;
};

}  // namespace

std::unique_ptr<Aggregator> make_sum_aggregator(const Codec& codec, std::uint32_t values,
                                                const Options& options) {
  return std::make_unique<SumAggregator>(codec, values, options);
}

}  // namespace tributary::thc
