// A table of levels in the forms in which kernels use it.
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
  unsigned sum_bits;  // of a sum of all agents
  bool same_width;    // for the sums of fewer, because a switch wants it so
  std::uint32_t granularity;
  float threshold;
  double own_error;  // expected, of one agent's encoding by itself

  std::array<std::uint16_t, levels_of(kBitsMax)> places = {};  // T; the table repeats beyond 2^bits
  // By grid cell, the last one being the point g alone. For look-ups in a register the level is
  // also by itself, and a level's place and gap also by level.
  std::array<Cell, kGranularityMax + 1> cells = {};
  std::array<std::uint32_t, kGranularityMax + 1> packed_cells = {};  // level | lower<<8 | gap<<20
  alignas(64) std::array<std::uint8_t, 128> level_of_cell = {};      // cells below 128
  alignas(64) std::array<float, 16> up_from_of_level = {};           // up to 4 bits
  alignas(64) std::array<float, 16> gap_of_level = {};               // for draws of 16 bits

  // Of the sums of so many: on its way round, a partial sum grows with who is in it.
  unsigned sum_bits_of(std::uint32_t contributors) const;

  // So that agents who planned differently find out: part of every payload.
  std::uint16_t fingerprint = 0;
};

// Solving takes up to a few hundred milliseconds, so levels are kept for the process.
Result<std::shared_ptr<const Levels>> levels_for(const TableRequest& request);

}  // namespace tributary::thc
