// The bodies of THC's payloads, and where the fields of each block are.
//
// Stage 0: the numbers of every block, f32 (block_range.h). Stage 1:
//
//   byte 0       stamp: granularity, fingerprint and threshold of the table, or with `rate` a
//                checksum of these of all tables and of every block's width
//        8       fields, packed: one for each coordinate of the block layout
//
// In layout 0, fields are the levels of one agent. In other layouts they are sums of the
// contributors' grid places, whose widths follow from the number of contributors.
//
// With `rate`, fields are grouped by width: one run for each width that some block has, in
// ascending order, with its blocks in the order of the bucket. Blocks of 0 bits have no fields. A
// bucket with one width is a single run.
//
// The functions are pure.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/base/status.h"
#include "core/codec/payload.h"
#include "core/codec/thc/levels.h"
#include "core/codec/thc/options.h"

namespace tributary::thc {

constexpr std::size_t kStampBytes = 8;
constexpr std::uint8_t kLevelsLayout = 0;
// Sums of several widths. With one width, the layout of sums is their number of bits.
constexpr std::uint8_t kSumsOfRunsLayout = 64;

// Size of packed fields in bytes. `coordinates` is a multiple of 64.
constexpr std::size_t fields_bytes(std::size_t coordinates, unsigned bits) {
  return coordinates / 8 * bits;
}

// Size of a sum in memory, which may have more bits than the field.
constexpr std::size_t lane_bytes(unsigned sum_bits) {
  return sum_bits <= 8 ? 1 : sum_bits <= 16 ? 2 : 4;
}

// Calls visit() with a zero of the type in which sums are kept in memory.
template <typename Visit>
auto with_lane(unsigned sum_bits, const Visit& visit) {
  switch (lane_bytes(sum_bits)) {
    case 1:
      return visit(std::uint8_t());
    case 2:
      return visit(std::uint16_t());
    default:
      return visit(std::uint32_t());
  }
}

// Returns the combined numbers of stage 0, range_numbers() per block: finite and not below 0. They
// point into call.combined.
Result<std::span<const float>> open_norms(const Codec& codec, const Options& options,
                                          const StageCall& call, std::size_t values);

// The fields of one width.
struct Run {
  std::shared_ptr<const Levels> levels;
  std::size_t coordinates;
};

// The division of the fields into runs. It follows from the plan and the combined norms, so all
// agents and aggregators compute the same. Immutable.
class FieldPlan {
 public:
  // The run of a block that is not sent.
  static constexpr std::uint8_t kNotSent = 0xff;

  // The place of a block: its run, and its first coordinate in the run.
  struct Place {
    std::size_t run;
    std::size_t begin;
  };

  // `norms` are the result of open_norms(); they are only used with `rate`. Fails like
  // plan_table().
  static Result<FieldPlan> make(const Options& options, std::uint32_t agents, std::size_t values,
                                std::span<const float> norms);

  std::span<const Run> runs() const { return runs_; }
  // Empty if the block is not sent.
  std::optional<Place> place(const Block& block) const {
    if (run_of_block_.empty()) return Place{.run = 0, .begin = block.begin};
    if (run_of_block_[block.index] == kNotSent) return std::nullopt;
    return Place{.run = run_of_block_[block.index], .begin = begin_of_block_[block.index]};
  }

  // Both places by block, for loops over many blocks. Empty if there is one run, in which every
  // block begins at its own first coordinate.
  std::span<const std::uint8_t> run_of_block() const { return run_of_block_; }
  std::span<const std::uint32_t> begin_of_block() const { return begin_of_block_; }

  // The layout of a payload with sums.
  std::uint8_t sums_layout(std::uint32_t contributors) const;
  // The offsets of the runs behind the stamp, and the end of the last one, if `bits_of(levels)` is
  // the number of bits of a field.
  template <typename BitsOf>
  std::vector<std::size_t> starts(const BitsOf& bits_of) const {
    std::vector<std::size_t> starts = {0};
    for (const Run& run : runs_) {
      starts.push_back(starts.back() + fields_bytes(run.coordinates, bits_of(*run.levels)));
    }
    return starts;
  }

  // Writes the first kStampBytes bytes of a body.
  void write_stamp(std::uint8_t* body) const;
  // Returns mismatch if a body has another stamp.
  Status check_stamp(const std::uint8_t* body) const;

 private:
  Status divide(const Options& options, std::uint32_t agents, std::size_t values,
                std::span<const float> norms);

  std::vector<Run> runs_;
  // By block, with `rate` and at least one block.
  std::vector<std::uint8_t> run_of_block_;
  std::vector<std::uint32_t> begin_of_block_;
  bool rated_ = false;
  std::array<std::uint8_t, kStampBytes> stamp_ = {};
};

// The fields of a body after its checks; they point into the payload.
struct Fields {
  const std::uint8_t* data;
  bool sums;  // false: levels of one agent
  std::uint32_t contributors;
  std::vector<std::size_t> starts;  // of the runs, in bytes

  Fields(const OpenPayload& payload, const FieldPlan& plan);

  // Bits of a field with these levels.
  unsigned bits_of(const Levels& levels) const {
    return sums ? levels.sum_bits_of(contributors) : levels.bits;
  }
  // The packed fields of a run from one of its coordinates on, a multiple of 64.
  const std::uint8_t* at(std::size_t run, const Levels& levels, std::size_t begin) const {
    return data + starts[run] + fields_bytes(begin, bits_of(levels));
  }
};

// Checks an untrusted body, except for the fields themselves. Returns mismatch if another table or
// number of agents was planned, and corrupt_data for a wrong size.
Result<Fields> open_fields(const OpenPayload& payload, const FieldPlan& plan);

// A corrupt_data status for a sum that exceeds what its contributors can produce.
Status sum_too_large(std::uint32_t contributors);

}  // namespace tributary::thc
