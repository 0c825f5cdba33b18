// Which table a federation uses: the given granularity and p, or those with the least expected
// error for the bits, the agents and the width of a sum on its way down.
//
// Every agent plans for itself and all must come to the same table, so this is arithmetic that
// gives the same bits on every machine (normal.h), and ties go to the smaller granularity.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"

namespace tributary::thc {

constexpr double kShareMin = 1e-12;  // p
constexpr double kShareMax = 0.5;

struct TableRequest {
  unsigned bits = 4;
  std::uint32_t granularity = 0;  // 0: chosen
  double p = 0;                   // share of the coordinates that is truncated; 0: chosen
  std::uint32_t agents = 1;       // planned
  unsigned down_bits = 0;         // of a sum; 0: what the chosen granularity needs
  bool uniform = false;           // levels 0, 1, 2, ... and no look-up

  friend auto operator<=>(const TableRequest&, const TableRequest&) = default;
};

struct TablePlan {
  std::vector<std::uint16_t> levels;  // ascending, from 0 to granularity
  std::uint32_t granularity = 0;
  double p = 0;
  double threshold = 0;  // t_p
  unsigned sum_bits = 0;
  bool sum_bits_given = false;  // or what the granularity needs
  // Of a rotated coordinate of unit variance.
  double rounding_mse = 0;
  double truncation_mse = 0;
  // Of the mean of the agents' updates if these are alike and rounded independently:
  // truncation_mse + rounding_mse / agents.
  double expected_nmse = 0;
};

// The expected error of one agent's encoding by itself, as a share of what was encoded.
double own_error(const TablePlan& plan);

Result<TablePlan> plan_table(const TableRequest& request);

}  // namespace tributary::thc
