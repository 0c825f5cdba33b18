// Benchmark: planning time with and without decoding, compared with other algorithms. The other
// algorithms are slow and get fewer tensors where necessary.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "bench/harness/harness.h"
#include "core/plan/fusion/fusion.h"
#include "core/plan/fusion/fusion_baselines.h"
#include "core/plan/fusion/fusion_profiles_testing.h"
#include "core/plan/fusion/fusion_testing.h"

namespace tributary {
namespace {

using bench::Case;
using fusion_testing::like_a_gather;
using fusion_testing::like_a_model;
using fusion_testing::ProfileDraws;

constexpr bench::Unit kPlans = {.name = "plans/s", .size = 1};

struct Timed {
  explicit Timed(FusionProfile of) : profile(std::move(of)) {}

  FusionProfile profile;
  double iteration_s = 0;
};

Status check(bool fine, double got, double expected) {
  if (fine) return {};
  return Status(StatusCode::mismatch, {.what = "iteration",
                                       .expected = fmt::format("{} s", expected),
                                       .got = fmt::format("{} s", got)});
}

Status check_same(double got, double expected) {
  return check(std::abs(got - expected) <= 1e-12 * expected, got, expected);
}

Status check_no_rule_is_better(const Timed& timed) {
  for (const FusionBaseline& rule : fusion_baselines(FusionTimes(timed.profile))) {
    TRIBUTARY_TRY(
        check(timed.iteration_s <= rule.iteration_s, timed.iteration_s, rule.iteration_s));
  }
  return {};
}

double planned_s(const FusionProfile& profile) {
  const Result<FusionPlan> plan = plan_fusion(profile);
  return plan.ok() && plan->optimal ? plan->iteration_s : -1;
}

Case plan_case(const std::string& name, FusionProfile profile, std::string peer = {}) {
  const auto timed = std::make_shared<Timed>(std::move(profile));
  Case one = {.name = name,
              .bytes = 1,
              .run = [timed] { timed->iteration_s = planned_s(timed->profile); },
              .check =
                  [timed] {
                    TRIBUTARY_TRY(check(timed->iteration_s > 0, timed->iteration_s, 0));
                    return check_no_rule_is_better(*timed);
                  },
              .unit = kPlans};
  if (!peer.empty()) one.goals.push_back({.peer = std::move(peer)});
  return one;
}

// Times another algorithm and checks that its result equals the planner's.
Case peer_case(std::string name, FusionProfile profile, double (*other)(const FusionProfile&)) {
  const auto timed = std::make_shared<Timed>(std::move(profile));
  return {.name = std::move(name),
          .bytes = 1,
          .run = [timed, other] { timed->iteration_s = other(timed->profile); },
          .check = [timed] { return check_same(timed->iteration_s, planned_s(timed->profile)); },
          .unit = kPlans};
}

double by_brute_force(const FusionProfile& profile) {
  return fusion_testing::brute_force(profile).iteration_s;
}
double by_papers_search(const FusionProfile& profile) {
  return fusion_testing::PaperSearch(profile).run().iteration_s;
}
double by_pareto_sets(const FusionProfile& profile) {
  return fusion_testing::pareto_sets(profile).iteration_s;
}

std::vector<Case> fusion_cases(const bench::Settings&) {
  std::vector<Case> cases;
  cases.push_back(peer_case("brute force, 14 tensors", like_a_gather(14), by_brute_force));
  cases.push_back(peer_case("paper's search, 100 tensors", like_a_model(100), by_papers_search));
  cases.push_back(plan_case("100 tensors", like_a_model(100), "paper's search, 100 tensors"));
  cases.push_back(peer_case("recurrence as written, 314", like_a_model(314),
                            fusion_testing::plain_recurrence_s));
  cases.push_back(plan_case("314 tensors", like_a_model(314), "recurrence as written, 314"));
  cases.push_back(plan_case("2000 tensors", like_a_model(2000)));
  cases.push_back(peer_case("Pareto sets, 60 tensors", like_a_gather(60), by_pareto_sets));
  cases.push_back(plan_case("60 tensors, decoded", like_a_gather(60), "Pareto sets, 60 tensors"));
  cases.push_back(plan_case("314 tensors, decoded", like_a_gather(314)));
  cases.push_back(plan_case("2000 tensors, decoded", like_a_gather(2000)));
  // All three stages take about equal time, which is the slowest case for the search.
  cases.push_back(plan_case("2000 drawn tensors, decoded",
                            ProfileDraws(41).rounded(2000, fusion_testing::Decode::some)));
  return cases;
}

const bench::Registration kFusion({.name = "plan.fusion",
                                   .about = "the best groups of tensors, in plans a second",
                                   .build = fusion_cases});

}  // namespace
}  // namespace tributary
