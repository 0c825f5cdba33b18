#include "core/store/agent/agent_runs.h"

#include <optional>
#include <tuple>

namespace tributary {

Status note_run(Database& database, const std::string& boot_id, Durability durability) {
  return database.run(
      "UPDATE runs SET boot_id = ?, durability = ? WHERE run = (SELECT max(run) FROM runs)",
      boot_id, name(durability));
}

// Two starts without an identity count as different.
Result<bool> may_lack_records(Database& database, const std::string& boot_id) {
  std::optional<std::string> boot_before;
  std::optional<std::string> durability;
  std::optional<std::int64_t> closed_wall_ns;
  TRIBUTARY_ASSIGN(
      const bool found,
      database.first("SELECT boot_id, durability, closed_wall_ns FROM runs "
                     "WHERE run < (SELECT max(run) FROM runs) ORDER BY run DESC LIMIT 1",
                     std::tie(boot_before, durability, closed_wall_ns)));
  if (!found || closed_wall_ns || !durability || *durability == name(Durability::round)) {
    return false;
  }
  return boot_id.empty() || boot_before != boot_id;
}

Status note_residual_dropped(Database& database, double norm) {
  return database.run(
      "UPDATE runs SET residual_dropped = ? WHERE run = (SELECT max(run) FROM runs)", norm);
}

Result<std::uint64_t> count_residuals_dropped(Database& database) {
  std::uint64_t count = 0;
  TRIBUTARY_TRY(
      database
          .first("SELECT count(*) FROM runs WHERE residual_dropped IS NOT NULL", std::tie(count))
          .status());
  return count;
}

Status note_closed(Database& database, std::int64_t now_wall_ns) {
  return database.run("UPDATE runs SET closed_wall_ns = ? WHERE run = (SELECT max(run) FROM runs)",
                      now_wall_ns);
}

}  // namespace tributary
