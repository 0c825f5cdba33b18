// The loops of THC (core/codec/thc) on a device. They produce the same bytes as its Kernels.
//
// Requirements: all pointers are to memory of the device, aligned to 16 bytes. The functions only
// start the work in the queue; Queue::wait() returns its errors. Flags are set to a value that is
// not 0, and never cleared: the caller initializes them.
#pragma once

#include <bit>
#include <cstdint>

#include "core/codec/cuda/device.h"
#include "core/codec/thc/blocks/blocks.h"
#include "core/codec/thc/device/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

// A bucket and its blocks. BlockLayout describes the division.
struct ThcBlocks {
  std::uint32_t values;
  std::uint32_t units;  // of kBlockMin coordinates, with padding
  unsigned shift;       // a block has 2^shift units
  bool rotated;
  bool minmax;
  StreamKey signs;

  static ThcBlocks of(const thc::BlockFormat& format, std::size_t values);

  // Blocks above this size are rotated by two kernels, which need memory for all coordinates.
  bool needs_scratch() const { return rotated && block() > 4096; }
  constexpr std::uint32_t block() const { return thc::kBlockMin << shift; }
  std::size_t coordinates() const { return std::size_t{units} * thc::kBlockMin; }
  constexpr std::uint32_t blocks() const {
    const std::uint32_t tail = units & ((1u << shift) - 1);
    return (units >> shift) + static_cast<std::uint32_t>(std::popcount(tail));
  }
};

// For rounding to a level or the next one (elements.h). A draw is in the high half of a word, so
// `per_draw` is divided by 2^16.
struct alignas(8) ThcStep {
  float up_from;
  float per_draw;
};

// The fields of one table.
struct ThcRun {
  std::uint64_t start;  // its first byte
  unsigned bits;        // of a field
  float granularity;
  float threshold;
  float spread_scale;  // of a full block
  std::uint8_t level_of_cell[thc::kGranularityMax + 1];
  ThcStep step_of_level[thc::levels_of(thc::kBitsMax)];
  std::uint16_t places[thc::levels_of(thc::kBitsMax)];

  static ThcRun of(const ThcBlocks& blocks, const thc::Levels& levels, unsigned bits,
                   std::uint64_t start);
};

// Where the fields of each block are. Without `run_of_block` there is one run, and a block begins
// at its own coordinate. Offsets of runs are multiples of 8 bytes.
struct ThcFields {
  const ThcRun* runs;
  const std::uint8_t* run_of_block;  // FieldPlan::kNotSent: no fields
  const std::uint32_t* begin_of_block;
};

// Sets the root of the mean square of every block (range=norm), and *not_finite.
Status find_norms(const Queue& queue, const float* x, const ThcBlocks& blocks, float* norms,
                  std::uint32_t* not_finite);
// Sets the extent of every block on both sides of 0 (range=minmax), and *not_finite. `scratch` has
// a float for every coordinate, if blocks are rotated.
Status find_extents(const Queue& queue, const float* x, const ThcBlocks& blocks, float* scratch,
                    float* extents, std::uint32_t* not_finite);

// Writes the packed levels of a bucket. `numbers` are those of its blocks.
Status encode_levels(const Queue& queue, const float* x, const ThcBlocks& blocks,
                     const float* numbers, const ThcFields& fields, const thc::Rounding& rounding,
                     float* scratch, std::uint8_t* out);

// Fields are levels of one agent, or sums of several agents' places.
struct ThcFieldKind {
  bool sums;
  std::uint32_t contributors;
};
struct ThcFlags {
  std::uint32_t too_large;  // a sum exceeds what its contributors can produce
  std::uint32_t not_finite;
};
// Decodes the fields of a bucket.
Status decode_fields(const Queue& queue, const std::uint8_t* in, const ThcBlocks& blocks,
                     const float* numbers, const ThcFields& fields, const ThcFieldKind& kind,
                     float* scratch, float* x, ThcFlags* flags);

}  // namespace tributary::TRIBUTARY_DEVICE
