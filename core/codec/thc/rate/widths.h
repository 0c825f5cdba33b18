// The widths that a block may have when the blocks of a bucket share a rate: bits of a level on the
// uplink, with the granularity and p of their table, and bits of a sum on the downlink.
//
// The choice depends only on the arguments, and all agents must choose alike. It therefore uses the
// deterministic tables of table_plan.h, and + - * / on double in a fixed order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/codec/thc/table/table_plan.h"

namespace tributary::thc {

struct Width {
  unsigned bits = 0;      // of a level; 0: the block is not sent
  unsigned sum_bits = 0;  // of a sum of all planned agents
  double error = 1;       // expected squared error, as a share of the block's energy
  TableRequest table;     // granularity and p are given; not used for 0 bits

  double cost(double down_weight) const { return bits + down_weight * sum_bits; }
};

// Returns the candidates on the lower convex hull of error against cost, from a block that is not
// sent to the least error. Cost and bits increase; the error falls by less for every further unit
// of cost. Pure.
std::vector<Width> convex_widths(std::span<const Width> candidates, double down_weight);

// Returns the convex widths for a number of planned agents, of all of 1, 2, 3, 4, 6 and 8 bits and
// of all useful granularities. The tables take some hundred milliseconds to solve, so candidates
// are cached for the process. Any thread may call it. Fails like plan_table().
Result<std::vector<Width>> widths_for(std::uint32_t agents, double down_weight);

}  // namespace tributary::thc
