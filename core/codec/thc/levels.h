// A table of THC levels in the representations that the kernels use. It is immutable; all threads
// may share it.
//
// The same tables serve all buckets of a job.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/status.h"
#include "core/codec/thc/elements.h"
#include "core/codec/thc/table/table.h"
#include "core/codec/thc/table/table_plan.h"

namespace tributary::thc {

struct Levels {
  explicit Levels(const TablePlan& plan, unsigned level_bits);

  unsigned bits;
  unsigned sum_bits;  // bits of a sum of all agents
  bool same_width;    // also for sums of fewer agents, as a switch requires
  std::uint32_t granularity;
  float threshold;
  double own_error;  // expected error of one agent's own encoding

  std::array<std::uint16_t, levels_of(kBitsMax)> places = {};  // T; repeats beyond 2^bits
  // Indexed by grid cell; the last cell is the point g alone. For look-ups in registers, the level
  // of a cell has an array of its own, and so have the places and gaps of levels.
  std::array<Cell, kGranularityMax + 1> cells = {};
  std::array<std::uint32_t, kGranularityMax + 1> packed_cells = {};  // level | lower<<8 | gap<<20
  alignas(64) std::array<std::uint8_t, 128> level_of_cell = {};      // for cells below 128
  alignas(64) std::array<float, 16> up_from_of_level = {};           // for up to 4 bits
  alignas(64) std::array<float, 16> gap_of_level = {};               // scaled for draws of 16 bits

  // Bits of a sum of `contributors` agents. A partial sum on its path through the agents grows with
  // its contributors.
  unsigned sum_bits_of(std::uint32_t contributors) const;

  // A checksum of the table, part of every payload, so that agents with different plans detect it.
  std::uint16_t fingerprint = 0;
};

// Returns the levels for a request. A table takes up to a few hundred milliseconds to solve, so
// solved tables are cached for the process. Any thread may call it. Fails like plan_table().
Result<std::shared_ptr<const Levels>> levels_for(const TableRequest& request);

}  // namespace tributary::thc
