// Chooses the table of levels of a federation: the given granularity and p, or those with the
// minimum expected error for the bits, the agents and the width of a combined sum.
//
// Every agent plans for itself, and all must choose the same table. The computation therefore has
// the same bits on every machine (normal.h), and ties go to the smaller granularity. The functions
// are pure; a plan may take some hundred milliseconds.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"

namespace tributary::thc {

constexpr double kShareMin = 1e-12;  // limits of p
constexpr double kShareMax = 0.5;
// With four grid points per level, the error is within one hundredth of that of a free choice.
constexpr std::uint32_t kPointsPerLevel = 4;

// The inputs of the choice; also the key of a cache (levels.h).
struct TableRequest {
  unsigned bits = 4;
  std::uint32_t granularity = 0;  // 0: chosen
  double p = 0;                   // share of the coordinates to truncate; 0: chosen
  std::uint32_t agents = 1;       // planned members
  unsigned down_bits = 0;         // bits of a combined sum; 0: as the granularity requires
  bool uniform = false;           // levels 0, 1, 2, ... without a look-up

  friend auto operator<=>(const TableRequest&, const TableRequest&) = default;
};

// The chosen table.
struct TablePlan {
  std::vector<std::uint16_t> levels;  // ascending, from 0 to granularity
  std::uint32_t granularity = 0;
  double p = 0;
  double threshold = 0;  // t_p
  unsigned sum_bits = 0;
  bool sum_bits_given = false;  // false: as the granularity requires
  // Mean squared errors of a rotated coordinate of unit variance.
  double rounding_mse = 0;
  double truncation_mse = 0;
  // Expected NMSE of the mean of the agents' updates, if these are alike and rounded independently:
  // truncation_mse + rounding_mse / agents.
  double expected_nmse = 0;
};

// The expected error of one agent's own encoding, as a share of its input.
double own_error(const TablePlan& plan);

// Plans a table. Returns invalid_argument for parameters out of bounds, and resource_exhausted if a
// sum of the given width cannot hold the planned agents.
Result<TablePlan> plan_table(const TableRequest& request);

}  // namespace tributary::thc
