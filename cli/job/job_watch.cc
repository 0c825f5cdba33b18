// tributary job watch: shows the progress of a job until it has ended.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/run/job_journal.h"
#include "cli/run/missing_in_answer.h"
#include "cli/text.h"
#include "core/run/run_changes.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

struct WatchOptions {
  std::string run_file = usual_run_file();
  std::string job;
};

// The state of the last look. A poll without a new evaluation keeps the earlier accuracy.
struct Seen {
  JobInJournal job;
  MissingRounds missing;
  double accuracy = NAN;
  std::int64_t last_metric = 0;
};

// Opens the journal for each look, so that no file is held open between two looks.
Status look(const WatchOptions& options, Seen& seen, Progress& progress) {
  TRIBUTARY_ASSIGN(const auto run, RunFile::open(options.run_file));
  TRIBUTARY_ASSIGN(const MissingRounds missing, run->missing());
  // Once until the file has all again: the progress bar stands still meanwhile.
  if (missing.any() && !seen.missing.any()) progress.say(printable(missing.text(options.run_file)));
  seen.missing = missing;
  TRIBUTARY_ASSIGN(seen.job, job_in(*run, options.job));
  TRIBUTARY_ASSIGN(const double accuracy,
                   newest_metric(*run, kAccuracyMetric, seen.job.record.job, seen.last_metric));
  if (!std::isnan(accuracy)) seen.accuracy = accuracy;
  return {};
}

std::string doing_text(const Seen& seen) {
  std::string text = fmt::format("{} {}", printable(seen.job.name()), seen.job.state());
  if (!std::isnan(seen.accuracy)) text += fmt::format(", accuracy {:.2f} %", 100 * seen.accuracy);
  return text;
}

// Returns when the job has ended or the user presses Ctrl-C, which does not affect the job.
Result<Answer> watch(const WatchOptions& options, World& world) {
  // Frequent enough for a progress bar; a poll reads a few rows.
  constexpr std::chrono::milliseconds kLookEvery{500};
  Seen seen;
  while (true) {
    TRIBUTARY_TRY(look(options, seen, world.progress));
    const bool go_on =
        world.progress.report(doing_text(seen), seen.job.rounds_committed, seen.job.rounds());
    if (seen.job.over() || !go_on) break;
    std::this_thread::sleep_for(kLookEvery);
  }
  Answer answer;
  answer.text = fmt::format("{}, {} of {} rounds\n", doing_text(seen),
                            count_text(seen.job.rounds_committed), count_text(seen.job.rounds()));
  answer.text += missing_line(seen.missing, options.run_file);
  Json data = {{"name", seen.job.name()},
               {"job", seen.job.record.job},
               {"state", seen.job.state()},
               {"rounds", seen.job.rounds()},
               {"rounds_committed", seen.job.rounds_committed},
               {"accuracy", seen.accuracy}};
  add_missing(seen.missing, data);
  answer.data = json_text(data);
  return answer;
}

}  // namespace

Command job_watch_command() {
  const auto options = std::make_shared<WatchOptions>();
  return {.noun = "job",
          .verb = "watch",
          .summary = "show the progress of a job until its end",
          .details =
              "Shows a progress bar on a terminal. Ctrl-C ends the command; the job continues.\n\n"
              "examples:\n"
              "  tributary job watch digits\n"
              "  tributary job watch digits --json    # waits and prints the result",
          .options = {job_option(options->job), run_option(options->run_file)},
          .run = [options](World& world) { return watch(*options, world); }};
}

}  // namespace tributary
