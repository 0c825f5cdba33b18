// tributary run copy: copies the journal of a run to one file.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/run/missing_in_answer.h"
#include "cli/text.h"
#include "core/run/units/quantity.h"
#include "core/store/coordinator/run_copy.h"
#include "core/store/database/journal.h"

namespace tributary {
namespace {

Result<Answer> run_copy(const RunCopyOptions& command, World& world) {
  RunCopyOptions options = command;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    return world.progress.report("copying pages", done, total);
  };
  TRIBUTARY_ASSIGN(const RunCopied copied, copy_run(options));
  Answer answer;
  answer.text = fmt::format(
      "copied {} rounds of {} jobs, {}, to '{}'\n", count_text(copied.rounds), copied.jobs,
      quantity_text(Unit::bytes, static_cast<double>(copied.bytes)), printable(options.copy));
  if (copied.rounds_beside > 0) {
    answer.text +=
        fmt::format("{} of these rounds were beside the journal, because its disk is slow\n",
                    copied.rounds_beside);
  }
  answer.text += missing_line(copied.missing, options.run_file);
  if (copied.residual_bytes_missing > 0) {
    answer.text += fmt::format(
        "{} of the residual of the sums are missing in the copy: '{}' could not be read. Copy "
        "again, or copy after a clean stop of the coordinator.\n",
        quantity_text(Unit::bytes, static_cast<double>(copied.residual_bytes_missing)),
        printable(options.run_file + std::string(kVectorsEnd)));
  }
  nlohmann::ordered_json json = {
      {"run_db", options.run_file}, {"copy", options.copy},
      {"jobs", copied.jobs},        {"rounds", copied.rounds},
      {"bytes", copied.bytes},      {"residual_bytes_missing", copied.residual_bytes_missing}};
  add_missing(copied.missing, json);
  answer.data = json_text(json);
  return answer;
}

}  // namespace

Command run_copy_command() {
  const auto options = std::make_shared<RunCopyOptions>();
  return {
      .noun = "run",
      .verb = "copy",
      .summary = "copy the journal of a run to one file",
      .details =
          "The coordinator may be running: the copy is the journal as it is at one moment, and\n"
          "needs no other file. A copy of the file alone (cp, scp) has all rounds only\n"
          "after a clean stop of the coordinator.\n\n"
          "examples:\n"
          "  tributary run copy run.db monday.db\n"
          "  tributary run copy run.db monday.db --force --json",
      .options = {{.name = "RUN",
                   .value_name = "RUN",
                   .help = "journal of the coordinator",
                   .accept = accept_file(options->run_file),
                   .required = true},
                  {.name = "FILE",
                   .value_name = "FILE",
                   .help = "file to write",
                   .accept = accept_file(options->copy),
                   .required = true},
                  {.name = "--force",
                   .value_name = {},
                   .help = "replace FILE if it exists and no daemon uses it",
                   .accept = accept_flag(options->replace)}},
      .run = [options](World& world) { return run_copy(*options, world); }};
}

}  // namespace tributary
