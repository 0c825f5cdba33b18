#include "core/codec/thc/sum_aggregator.h"

#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <optional>

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

// The accumulator has the runs of the plan one after the other, each with the lanes of its width.
class SumAggregator final : public CombiningAggregator {
 public:
  SumAggregator(const Codec& codec, std::uint32_t values, const Options& options)
      : CombiningAggregator(codec, 1, values), options_(options) {}

  Status begin(const StageCall& call, std::span<float> residual) override {
    // The tables depend on the planned number of agents, which may change from round to round.
    std::span<const float> norms;
    if (options_.rate != 0) {
      TRIBUTARY_ASSIGN(norms, open_norms(codec_, options_, call, values_));
    }
    TRIBUTARY_ASSIGN(plan_, FieldPlan::make(options_, call.round.agents, values_, norms));
    lane_starts_ = plan_->starts([](const Levels& levels) {
      return static_cast<unsigned>(8 * lane_bytes(levels.sum_bits));
    });
    return CombiningAggregator::begin(call, residual);
  }

 private:
  Result<Shape> shape_for(std::uint32_t agents) const override {
    return Shape{.layout = plan_->sums_layout(agents),
                 .body_bytes = kStampBytes + lane_starts_.back()};
  }

  Status check_addable(const StageCall&, UncheckedPayload&) const override { return {}; }
  // Every pattern of a level is valid. A sum must be one that its contributors can produce. At most
  // the planned number of contributors is added, so the total cannot overflow.
  Status check_body(const OpenPayload& payload) const override {
    TRIBUTARY_ASSIGN(const Fields fields, open_fields(payload, *plan_));
    if (!fields.sums) return {};
    bool within = true;
    for (std::size_t run = 0; run < plan_->runs().size(); ++run) {
      const Levels& levels = *plan_->runs()[run].levels;
      const std::uint64_t bound = std::uint64_t{levels.granularity} * fields.contributors;
      with_lane(levels.sum_bits, [&](auto lane) {
        for_each_piece({}, fields, run, lane, [&](std::size_t, const auto* sums, std::size_t n) {
          decltype(lane) largest = 0;
          for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, sums[i]);
          within &= largest <= bound;
        });
      });
    }
    return within ? Status() : sum_too_large(fields.contributors);
  }

  void combine(const Execution& execution, const OpenPayload& payload, bool first,
               MutableByteSpan accumulator) const override {
    if (first) plan_->write_stamp(accumulator.data());
    const Fields fields(payload, *plan_);
    for (std::size_t run = 0; run < plan_->runs().size(); ++run) {
      with_lane(plan_->runs()[run].levels->sum_bits, [&](auto lane) {
        auto* const sums =
            reinterpret_cast<decltype(lane)*>(accumulator.data() + kStampBytes + lane_starts_[run]);
        if (fields.sums) {
          for_each_piece(execution, fields, run, lane,
                         [&](std::size_t begin, const auto* added, std::size_t n) {
                           add_sums(added, n, first, sums + begin);
                         });
        } else {
          add_levels(execution, fields, run, first, sums);
        }
      });
    }
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
  void add_levels(const Execution& execution, const Fields& fields, std::size_t run, bool first,
                  Lane* sums) const {
    const Kernels& k = kernels(execution.backend);
    const Levels& levels = *plan_->runs()[run].levels;
    for_each_chunk(execution, plan_->runs()[run].coordinates, kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     alignas(64) std::array<std::uint8_t, kPiece> level;
                     for (std::size_t at = begin; at < end; at += kPiece) {
                       const std::size_t n = std::min(kPiece, end - at);
                       const std::uint8_t* const in = fields.at(run, levels, at);
                       k.unpack8(in, n, levels.bits, level.data());
                       // Clearing here, piece by piece, saves a separate pass over the accumulator.
                       if (first) std::memset(sums + at, 0, n * sizeof(Lane));
                       look_up_add(k, level.data(), n, levels, sums + at);
                     }
                   });
  }

  // Calls visit(begin, sums, n) for all sums of a run, unpacked piece by piece.
  template <typename Lane, typename Visit>
  void for_each_piece(const Execution& execution, const Fields& fields, std::size_t run, Lane,
                      const Visit& visit) const {
    const Levels& levels = *plan_->runs()[run].levels;
    for_each_chunk(execution, plan_->runs()[run].coordinates, kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     alignas(64) std::array<Lane, kPiece> sums;
                     for (std::size_t at = begin; at < end; at += kPiece) {
                       const std::size_t n = std::min(kPiece, end - at);
                       unpack_fields(fields.at(run, levels, at), n, fields.bits_of(levels),
                                     sums.data());
                       visit(at, sums.data(), n);
                     }
                   });
  }

  // In ascending order, so that a move never overwrites fields that were not moved yet.
  Shape pack(const Execution& execution, MutableByteSpan accumulator) const override {
    std::uint8_t* const fields = accumulator.data() + kStampBytes;
    std::uint8_t* packed = fields;
    for (std::size_t run = 0; run < plan_->runs().size(); ++run) {
      packed = pack_run(execution, plan_->runs()[run], fields + lane_starts_[run], packed);
    }
    return {.layout = plan_->sums_layout(contributors()),
            .body_bytes = kStampBytes + static_cast<std::size_t>(packed - fields)};
  }

  // Packs every chunk at its own start, in parallel, and then moves the chunks together. Returns
  // the end of the packed run.
  std::uint8_t* pack_run(const Execution& execution, const Run& run, std::uint8_t* lanes,
                         std::uint8_t* packed) const {
    const unsigned bits = run.levels->sum_bits_of(contributors());
    return with_lane(run.levels->sum_bits, [&](auto lane) {
      using Lane = decltype(lane);
      // Otherwise the lanes already have the width of the fields.
      if (bits < 8 * sizeof(Lane)) {
        for_each_chunk(execution, run.coordinates, kChunkValues,
                       [&](std::size_t, std::size_t begin, std::size_t end) {
                         std::uint8_t* const chunk = lanes + begin * sizeof(Lane);
                         pack_fields(reinterpret_cast<const Lane*>(chunk), end - begin, bits,
                                     chunk);
                       });
      }
      for (std::size_t at = 0; at < run.coordinates; at += kChunkValues) {
        const std::uint8_t* const chunk = lanes + at * sizeof(Lane);
        const std::size_t bytes = fields_bytes(std::min(kChunkValues, run.coordinates - at), bits);
        if (packed != chunk) std::memmove(packed, chunk, bytes);
        packed += bytes;
      }
      return packed;
    });
  }

  const Options options_;
  std::optional<FieldPlan> plan_;  // of the round since begin()
  std::vector<std::size_t> lane_starts_;
};

}  // namespace

std::unique_ptr<Aggregator> make_sum_aggregator(const Codec& codec, std::uint32_t values,
                                                const Options& options) {
  return std::make_unique<SumAggregator>(codec, values, options);
}

}  // namespace tributary::thc
