#include "core/store/coordinator/missing_rounds.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>

#include "core/store/coordinator/closed_mark.h"
#include "core/store/coordinator/coordinator_schema.h"
#include "core/store/coordinator/recent/recent_rounds.h"
#include "core/store/durability/boot_id.h"

namespace tributary {
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The coordinator deletes the other journal after the transaction that moves its rounds, so a
// reader may find the rounds in both for a moment. They are moved all at once.
Status count_beside(Database& run, MissingRounds& missing) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<Database> recent, open_rounds_beside(run));
  std::string boot_id;
  TRIBUTARY_TRY(recent->first("SELECT boot_id FROM written_in", std::tie(boot_id)).status());
  missing.beside_may_be_damaged = boot_id.empty() || boot_id != system_boot_id();
  return recent->each("SELECT job, count(*), max(round) FROM rounds GROUP BY job", [&](Rows& row) {
    std::uint64_t job = 0;
    std::uint64_t rounds = 0;
    std::uint64_t last = 0;
    TRIBUTARY_TRY(row.read(job, rounds, last));
    std::optional<std::uint64_t> last_here;
    TRIBUTARY_TRY(run.first("SELECT max(round) FROM rounds WHERE job = ?", std::tie(last_here), job)
                      .status());
    if (last_here.value_or(0) < last) missing.beside += rounds;
    return Status();
  });
}

}  // namespace

Result<std::unique_ptr<Database>> open_rounds_beside(Database& run) {
  const std::string path = path_of_recent_rounds(run);
  if (!exists(path)) return Status(StatusCode::not_found, {.what = path});
  TRIBUTARY_ASSIGN(std::unique_ptr<Database> recent, Database::open(path, {.read_only = true}));
  TRIBUTARY_TRY(coordinator_migrations().check_version(*recent).status());
  return recent;
}

// A coordinator may delete the other journal while it is being read, or may just have created it.
Result<MissingRounds> missing_rounds(Database& run, std::uint32_t version) {
  MissingRounds missing;
  if (version >= kClosedMarkSince) {
    TRIBUTARY_ASSIGN(missing.log_missing, is_log_missing(run));
  }
  MissingRounds found = missing;
  const Status counted = count_beside(run, found);
  if (counted.ok()) return found;
  missing.beside_unreadable =
      counted.code() != StatusCode::not_found && exists(path_of_recent_rounds(run));
  return missing;
}

std::string MissingRounds::text(std::string_view path) const {
  std::string text = log_missing ? log_missing_text(path) : "";
  const auto add = [&](const std::string& sentence) {
    text += (text.empty() ? "" : " ") + sentence;
  };
  if (beside_unreadable) {
    add(fmt::format("The newest rounds may be missing: '{}-recent' cannot be read.", path));
  } else if (beside > 0) {
    add(fmt::format("Newest rounds that are missing: {}. They are in '{}-recent'", beside, path) +
        (beside_may_be_damaged
             ? ", which a coordinator deletes: it may be damaged, because the machine was started "
               "anew."
             : " until the slow disk has the rounds before them. 'tributary run copy' copies them "
               "as well."));
  }
  return text;
}

}  // namespace tributary
