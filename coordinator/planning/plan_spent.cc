#include "coordinator/planning/plan_spent.h"

#include <tuple>
#include <utility>

namespace tributary {

Result<PlanSpent> read_spent(RunFile& run, std::uint64_t job, std::int64_t now_wall_ns) {
  constexpr std::int64_t kPlanDayNs = std::int64_t{86'400} * 1'000'000'000;
  PlanSpent spent = {.day = static_cast<std::uint64_t>(now_wall_ns / kPlanDayNs)};
  TRIBUTARY_TRY(run.database()
                    .first("SELECT total(committed_at_ns - began_at_ns) / 1e9 FROM rounds "
                           "WHERE job = ?",
                           std::tie(spent.seconds), job)
                    .status());
  const auto add = [&](Rows& row) -> Status {
    std::string agent;
    std::uint64_t bytes = 0;
    TRIBUTARY_TRY(row.read(agent, bytes));
    spent.bytes[std::move(agent)] = bytes;
    return {};
  };
  TRIBUTARY_TRY(run.database().each(
      "SELECT agent_id, sum(bytes_up + bytes_down) FROM agent_rounds r JOIN agents USING (agent) "
      "WHERE r.job = ? AND at_wall_ns >= ? GROUP BY agent_id",
      add, job, now_wall_ns - now_wall_ns % kPlanDayNs));
  return spent;
}

}  // namespace tributary
