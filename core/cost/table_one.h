// The closed formulas of the AR-Topk paper as printed: its Table I and Eqns. (4) and (5). They
// count whole messages of M bytes and no shared link. The costs of Tributary's own exchanges are in
// exchange_cost.h; `tributary plan collective` shows both. All functions are pure.
#pragma once

#include <cstdint>

#include "core/link_quality/link_estimate.h"

namespace tributary::table_one {

// Seconds for n workers (at least 1) and M bytes; logarithms are binary. star, ring and tree are
// complete reductions: the sum and its return to all workers. broadcast and all_gather are one
// phase.
double star(std::uint32_t n, double bytes, const LinkEstimate& link);
double ring(std::uint32_t n, double bytes, const LinkEstimate& link);
double tree(std::uint32_t n, double bytes, const LinkEstimate& link);
double broadcast(std::uint32_t n, double bytes, const LinkEstimate& link);
double all_gather(std::uint32_t n, double bytes, const LinkEstimate& link);

// Eqns. (4a) and (4b), and the cost of an all-gather for comparison. `kept_bytes` is M c, the bytes
// of the share c of the values that is kept, without their indices. The indices have the same size;
// the formulas add them.
double ar_top_k_ring(std::uint32_t n, double kept_bytes, const LinkEstimate& link);
double ar_top_k_tree(std::uint32_t n, double kept_bytes, const LinkEstimate& link);
double top_k_all_gather(std::uint32_t n, double kept_bytes, const LinkEstimate& link);

}  // namespace tributary::table_one
