// Benchmark: the time of a decision for agents with different links, with the search for a first
// plan.
#include <memory>
#include <string>
#include <utility>

#include "bench/harness/harness.h"
#include "bench/harness/peers.h"
#include "core/plan/decide.h"
#include "core/plan/search/measured_codecs.h"

namespace tributary {
namespace {

using bench::Case;

struct TimedDecision {
  PlanInputs inputs;
  Result<PlanDecision> decision = PlanDecision{};
};

// Codecs that cannot be measured are left out, and then the decision fails.
std::vector<PlanCodec> codecs_on_this_machine() {
  const SystemClock clock;
  std::vector<PlanCodec> codecs;
  for (const std::string_view spec : kPlannedCodecs) {
    Result<PlanCodec> codec = measure_plan_codec(spec, {}, clock);
    if (!codec.ok()) return {};
    codecs.push_back(std::move(*codec));
  }
  return codecs;
}

Status check(const TimedDecision& timed) {
  TRIBUTARY_TRY(timed.decision.status());
  if (timed.decision->trigger == wire::Trigger::first_round && timed.decision->options.size() > 1) {
    return {};
  }
  return Status(StatusCode::mismatch,
                {.what = "decision", .expected = "a search", .got = timed.decision->reason});
}

std::vector<Case> decide_cases(const bench::Settings&) {
  PlanInputs inputs = {.values = 1u << 20};
  inputs.codecs = codecs_on_this_machine();
  inputs.peers_reachable = true;
  inputs.agreement = 0.6;
  const auto update = bench::normal_update(4u << 20);
  const PlanAgent agent = {.alpha_s = 0.01,
                           .beta_s_per_byte = 8e-8,
                           .compute_s = 0.05,
                           .gain = gain_points_of(sparse::GainCurve({}, *update))};
  std::vector<Case> cases;
  for (const std::size_t agents : {std::size_t{4}, std::size_t{64}, std::size_t{1024}}) {
    const auto timed = std::make_shared<TimedDecision>();
    timed->inputs = inputs;
    timed->inputs.agents.assign(agents, agent);
    for (std::size_t i = 0; i < agents; ++i) {
      timed->inputs.agents[i].beta_s_per_byte *=
          1 + 3 * static_cast<double>(i) / static_cast<double>(agents);
    }
    cases.push_back({.name = std::to_string(agents) + " agents",
                     .bytes = 1,
                     .run = [timed] { timed->decision = decide(timed->inputs); },
                     .check = [timed] { return check(*timed); },
                     .unit = {.name = "plans/s", .size = 1}});
  }
  return cases;
}

const bench::Registration kDecide({.name = "plan.decide",
                                   .about = "a first plan for agents with different links",
                                   .build = decide_cases});

}  // namespace
}  // namespace tributary
