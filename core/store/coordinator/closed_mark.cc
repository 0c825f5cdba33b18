#include "core/store/coordinator/closed_mark.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

namespace tributary {
namespace {

// SQLite puts the log beside the file to which a link refers. Reading a file creates an empty log.
bool has_log(const std::string& path) {
  std::error_code error;
  std::filesystem::path log = std::filesystem::canonical(path, error);
  if (error) log = path;
  log += "-wal";
  const std::uintmax_t bytes = std::filesystem::file_size(log, error);
  return !error && bytes > 0;
}

}  // namespace

Status mark_closed(Database& database, std::int64_t now_wall_ns) {
  return database.run("UPDATE runs SET closed_wall_ns = ? WHERE run = (SELECT max(run) FROM runs)",
                      now_wall_ns);
}

// A coordinator that closes the file meanwhile sets the mark before it frees the log, so the log is
// looked for first. One that opens the file writes the log before it ends the mark, so the log is
// looked for once more.
Result<bool> is_log_missing(Database& database) {
  if (has_log(database.path())) return false;
  std::optional<std::int64_t> closed_wall_ns;
  TRIBUTARY_ASSIGN(const bool found,
                   database.first("SELECT closed_wall_ns FROM runs ORDER BY run DESC LIMIT 1",
                                  std::tie(closed_wall_ns)));
  return found && !closed_wall_ns && !has_log(database.path());
}

std::string log_missing_text(std::string_view path) {
  return fmt::format(
      "The newest rounds may be missing: '{0}' was not closed by its coordinator, and its log "
      "'{0}-wal' is not beside it. Copy both files, or copy with 'tributary run copy'.",
      path);
}

}  // namespace tributary
