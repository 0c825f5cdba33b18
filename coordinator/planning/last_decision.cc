#include "coordinator/planning/last_decision.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/plan/inputs_text.h"
#include "core/store/coordinator/stored_frames.h"

namespace tributary {
namespace {

constexpr std::uint64_t kDecisionsPage = 256;  // rounds per read

// Only the first round of a decision stores the inputs.
std::optional<PlanInputs> decided_from(const RoundRecord& record) {
  const wire::Plan* const plan = stored_plan(record.plan);
  const std::string_view text = plan ? stored_inputs(*plan) : std::string_view();
  if (text.empty()) return {};
  Result<PlanInputs> inputs = parse_plan_inputs(text);
  return inputs.ok() ? std::optional(*std::move(inputs)) : std::nullopt;
}

}  // namespace

Result<std::optional<PlanInputs>> last_decision(RunFile& run, std::uint64_t job) {
  TRIBUTARY_ASSIGN(std::uint64_t last, run.last_round(job));
  const std::uint64_t end = last - std::min(last, kDecisionRoundsMax);
  while (last > end) {
    const std::uint64_t first = last - std::min(kDecisionsPage, last - end) + 1;
    TRIBUTARY_ASSIGN(const std::vector<RoundRecord> rounds, run.rounds(job, first, last));
    for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
      if (std::optional<PlanInputs> inputs = decided_from(*round)) return inputs;
    }
    last = first - 1;
  }
  return std::optional<PlanInputs>();
}

}  // namespace tributary
