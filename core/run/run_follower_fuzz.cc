// Fuzzes following of runs that have been tampered with (hostile_run_testing.h) and then replaced.
// The result may be an error or other numbers, but never a crash, an endless read, or an allocation
// for a size that is only claimed.
#include "core/run/run_follower.h"

#include "core/run/hostile_run_testing.h"

namespace tributary::run_testing {
namespace {

constexpr int kFollowStepsMax = 2000;
constexpr std::size_t kRowsReadMax = 1000;  // the file has about fifty

std::size_t rows_of(const RunChanges& changes) {
  return changes.rounds.size() + changes.plans.size() + changes.metrics.size() +
         changes.reports.size() + changes.links.size() + changes.events.size();
}

// Follows to the end, or to the first error.
Status follow(RunFollower& follower) {
  std::size_t rows = 0;
  for (int steps = 0;; ++steps) {
    RunChanges changes;
    const Result<bool> more = follower.step(changes);
    rows += rows_of(changes);
    must(rows < kRowsReadMax && steps < kFollowStepsMax);
    for (const NewRound& round : changes.rounds) {
      ignore_error(follower.round_detail(round.job, round.round).status());
    }
    if (!more.ok()) return more.status();
    if (!*more) return {};
  }
}

void follow_tampered(ByteSpan bytes) {
  static HostileRun run;
  HostileInput input(bytes);
  const std::uint64_t choices = input.number(1);
  run.restore();
  ManualClock clock;
  RunFollower follower(
      {.path = run.path(), .rows_max = choices % 2 == 0 ? 4096u : 3u, .events_max = 4}, clock);
  const bool read_before = choices / 2 % 2 == 1;
  if (read_before) must(follow(follower).ok());
  run.tamper(input);
  ignore_error(follow(follower));
  // Another file replaces it: nothing of the previous one may remain.
  run.restore();
  clock.advance(std::chrono::seconds(2));
  Status status = follow(follower);
  clock.advance(std::chrono::seconds(2));
  if (!status.ok()) status = follow(follower);
  must(status.ok());
}

}  // namespace
}  // namespace tributary::run_testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::run_testing::follow_tampered({data, size});
  return 0;
}
