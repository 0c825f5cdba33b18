// The closed formulas of the AR-Topk paper, as printed: its Table I and Eqns. (4). They
// count a whole message of M bytes at a time and no line that is shared; what exchanges here cost
// is in exchange_cost.h, and `tributary plan collective` shows both.
#pragma once

#include <cstdint>

#include "core/link_quality/link_estimate.h"

namespace tributary::table_one {

// Of n workers and M bytes; logarithms are binary.
double star(std::uint32_t n, double bytes, const LinkEstimate& link);
double ring(std::uint32_t n, double bytes, const LinkEstimate& link);
double tree(std::uint32_t n, double bytes, const LinkEstimate& link);
double broadcast(std::uint32_t n, double bytes, const LinkEstimate& link);
double all_gather(std::uint32_t n, double bytes, const LinkEstimate& link);

// Eqns. (4a) and (4b), and the cost of an all-gather beside them: `kept_bytes` is M c, the bytes of
// the values that are kept; their indices are as large.
double ar_top_k_ring(std::uint32_t n, double kept_bytes, const LinkEstimate& link);
double ar_top_k_tree(std::uint32_t n, double kept_bytes, const LinkEstimate& link);
double top_k_all_gather(std::uint32_t n, double kept_bytes, const LinkEstimate& link);

}  // namespace tributary::table_one
