#include "core/plan/fusion/fusion.h"

#include <algorithm>
#include <utility>

#include "core/plan/fusion/fusion_baselines.h"
#include "core/plan/fusion/fusion_rows.h"
#include "core/plan/fusion/fusion_search.h"

namespace tributary {
namespace {

// Without decoding, the end of the row is the end of the iteration.
std::vector<std::uint32_t> groups_sent_first(const FusionTimes& times) {
  const std::uint32_t all = times.tensors();
  const double last_send_s = times.send_s(all - 1, all);
  FusionRows rows(times);
  rows.begin({});
  rows.add_row();
  std::uint32_t best = 1;
  double best_s = rows.end_s();
  while (rows.rows() < all && !rows.settled()) {
    // With one more group, the device alone would finish too late, and so would it with even more.
    if (times.compressed_s(rows.rows() + 1, all) + last_send_s >= best_s) break;
    rows.add_row();
    if (rows.end_s() >= best_s) continue;
    best_s = rows.end_s();
    best = rows.rows();
  }
  return rows.groups(best);
}

// The search is faster if the stage that is counted by deadlines has a low cost per group. The
// deadlines count the last stage, so the problem is mirrored if compression has the lower start-up
// cost.
FusionPlan searched(const FusionTimes& times, const FusionLimits& limits, FusionPlan start) {
  const bool mirrored = times.compress_alpha_s() < times.decode_alpha_s();
  const FusionTimes seen = mirrored ? times.mirrored() : times;
  const auto turn = [mirrored](std::vector<std::uint32_t> groups) {
    if (mirrored) std::ranges::reverse(groups);
    return groups;
  };
  FusionSearch search(seen, limits, turn(std::move(start.groups)));
  // The baselines are further start plans, so the result is never worse than one of them.
  for (const FusionBaseline& rule : fusion_baselines(times)) search.consider(turn(rule.groups));
  FusionPlan plan = search.run();
  plan.groups = turn(std::move(plan.groups));
  plan.iteration_s = fused_iteration_s(times, plan.groups);
  return plan;
}

}  // namespace

Result<FusionPlan> plan_fusion(const FusionProfile& profile, const FusionLimits& limits) {
  TRIBUTARY_TRY(check_fusion_profile(profile));
  const FusionTimes times(profile);
  FusionPlan plan = {.groups = groups_sent_first(times)};
  plan.iteration_s = fused_iteration_s(times, plan.groups);
  plan.optimal = !times.decodes();
  return plan.optimal ? plan : searched(times, limits, std::move(plan));
}

}  // namespace tributary
