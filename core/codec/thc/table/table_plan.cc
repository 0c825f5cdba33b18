#include "core/codec/thc/table/table_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/bytes/bits.h"
#include "core/codec/payload.h"
#include "core/codec/thc/table/normal.h"
#include "core/codec/thc/table/table.h"

namespace tributary::thc {
namespace {

constexpr unsigned kSumBitsMax = 32;
// A sum without a given width is as wide as kPointsPerLevel needs. More than 16 points per level
// gain nothing.
constexpr std::uint32_t kPointsPerLevelMax = 16;
// Errors do not fall steadily with the granularity, so all that fit are tried. With many levels,
// only the largest few are tried, because they differ little.
constexpr unsigned kBitsOfFullSearch = 5;
constexpr std::uint32_t kGranularitiesTried = 4;
// Candidates for p are 2^-1 .. 2^-kHalvingsMax.
constexpr int kHalvingsMax = 39;
// Limit of the error of one agent's own encoding. Error feedback converges if an encoding loses
// less than its input. With very many agents, the best table for 1 or 2 bits would exceed that.
constexpr double kOwnErrorMax = 0.9;
// A smaller relative gain counts as a tie. Equal tables of different granularity must remain equal
// despite rounding.
constexpr double kTieShare = 1e-9;

Status refuse(std::string what, std::string expected, std::string got, std::string remedy = {}) {
  return Status(StatusCode::invalid_argument, {.what = std::move(what),
                                               .expected = std::move(expected),
                                               .got = std::move(got),
                                               .remedy = std::move(remedy)});
}

Status check(const TableRequest& request) {
  if (request.bits < 1 || request.bits > kBitsMax) {
    return refuse("bits of a level", fmt::format("1 to {}", kBitsMax),
                  fmt::format("{}", request.bits));
  }
  if (request.agents < 1 || request.agents > kContributorsMax) {
    return refuse("agents of a table", fmt::format("1 to {}", kContributorsMax),
                  fmt::format("{}", request.agents));
  }
  if (request.down_bits > kSumBitsMax) {
    return refuse("bits of a sum", fmt::format("1 to {}, or 0 for what it needs", kSumBitsMax),
                  fmt::format("{}", request.down_bits));
  }
  const bool share_fits = request.p >= kShareMin && request.p <= kShareMax;
  if (request.p != 0 && !share_fits) {
    return refuse("p, the truncated share", fmt::format("{} to {}", kShareMin, kShareMax),
                  fmt::format("{}", request.p), "or 0 to have it chosen");
  }
  const std::uint32_t least = levels_of(request.bits) - 1;
  const std::uint32_t most = request.uniform ? least : kGranularityMax;
  if (request.granularity != 0 && (request.granularity < least || request.granularity > most)) {
    return refuse(fmt::format("granularity of {} bits", request.bits),
                  least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
                  fmt::format("{}", request.granularity), "or 0 to have it chosen");
  }
  return {};
}

// Returns the largest granularity with which the sum of `agents` levels fits.
std::uint32_t largest_granularity(const TableRequest& request) {
  const std::uint64_t agents = request.agents;
  const std::uint64_t fine = kPointsPerLevel * levels_of(request.bits) - 1;
  const unsigned width = request.down_bits != 0 ? request.down_bits : bits_for(fine * agents);
  const std::uint64_t fits = ((std::uint64_t{1} << width) - 1) / agents;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(fits, kGranularityMax));
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// The range of granularities to try; a single one if it is given.
Result<Range> granularities(const TableRequest& request) {
  const std::uint32_t least = levels_of(request.bits) - 1;
  const bool given = request.granularity != 0 || request.uniform;
  const std::uint32_t fixed = request.uniform ? least : request.granularity;
  if (given && request.down_bits == 0) return Range{fixed, fixed};
  std::uint32_t largest = largest_granularity(request);
  if (largest < (given ? fixed : least)) {
    return Status(StatusCode::resource_exhausted,
                  {.what = fmt::format("sums of {} bits", request.down_bits),
                   .expected = fmt::format("capacity for {} agents times a granularity of {}",
                                           request.agents, given ? fixed : least),
                   .got = fmt::format("room for {}", largest),
                   .remedy = "send wider sums down, fewer bits up, or plan for fewer agents"});
  }
  if (given) return Range{fixed, fixed};
  largest = std::min(largest, kPointsPerLevelMax * levels_of(request.bits) - 1);
  if (request.bits <= kBitsOfFullSearch) return Range{least, largest};
  return Range{std::max(least, largest - std::min(largest, kGranularitiesTried - 1)), largest};
}

// The table for a granularity and a share p, with its expected errors.
TablePlan evaluate(const TableRequest& request, std::uint32_t granularity, double p) {
  TablePlan plan = {.levels = {}, .granularity = granularity, .p = p};
  plan.threshold = normal_threshold(p);
  LevelTable table = solve_table(request.bits, IntervalCosts(granularity, plan.threshold));
  plan.levels = std::move(table.levels);
  plan.rounding_mse = table.rounding_mse;
  plan.truncation_mse = truncation_mse(plan.threshold);
  plan.expected_nmse = plan.truncation_mse + plan.rounding_mse / request.agents;
  plan.sum_bits = request.down_bits != 0 ? request.down_bits
                                         : bits_for(std::uint64_t{granularity} * request.agents);
  plan.sum_bits_given = request.down_bits != 0;
  return plan;
}

bool better(const TablePlan& a, const TablePlan& b) {
  return a.expected_nmse < b.expected_nmse * (1 - kTieShare);
}

// Finds the best p for one granularity. With every halving of p, truncation falls and rounding
// rises, so there is one minimum. The search goes downhill from `halvings` and stores the result
// there.
TablePlan best_share(const TableRequest& request, std::uint32_t granularity, int& halvings) {
  const auto at = [&](int count) {
    return evaluate(request, granularity, std::ldexp(1.0, -count));
  };
  TablePlan best = at(halvings);
  for (const int step : {1, -1}) {
    const int from = halvings;
    for (int next = halvings + step; next >= 1 && next <= kHalvingsMax; next += step) {
      TablePlan plan = at(next);
      if (!better(plan, best) || own_error(plan) > kOwnErrorMax) break;
      best = std::move(plan);
      halvings = next;
    }
    if (halvings != from) break;
  }
  return best;
}

}  // namespace

double own_error(const TablePlan& plan) { return plan.truncation_mse + plan.rounding_mse; }

Result<TablePlan> plan_table(const TableRequest& request) {
  TRIBUTARY_TRY(check(request));
  TRIBUTARY_ASSIGN(const Range range, granularities(request));
  std::optional<TablePlan> best;
  int halvings = 2 * static_cast<int>(request.bits);  // a start close to the best
  for (std::uint32_t granularity = range.first; granularity <= range.last; ++granularity) {
    TablePlan plan = request.p != 0 ? evaluate(request, granularity, request.p)
                                    : best_share(request, granularity, halvings);
    if (!best || better(plan, *best)) best = std::move(plan);
  }
  return std::move(*best);
}

}  // namespace tributary::thc
