// Fuzzes the view of a file that has been tampered with (core/run/hostile_run_testing.h): any
// numbers are accepted, but no crash, and no more data than RunLimits allow.
#include <algorithm>
#include <array>

#include "core/run/hostile_run_testing.h"
#include "core/run/run_follower.h"
#include "core/run/view/run_view.h"

namespace tributary::dashboard {
namespace {

using run_testing::must;

constexpr int kViewStepsMax = 2000;

void draw(const TwoCurves& curves) {
  for (const Series* const series : {curves.over_rounds.get(), curves.over_time.get()}) {
    const std::optional<Extent> extent = series->x_extent();
    if (!extent) continue;
    must(extent->low <= extent->high);
    std::vector<Sample> drawn;
    const std::array<double, 3> borders = {extent->low, extent->low / 2 + extent->high / 2,
                                           extent->high};
    if (std::ranges::is_sorted(borders)) series->draw(borders, drawn);
    must(drawn.size() <= series->size());
  }
}

// Reads everything that pages read, and checks the limits.
void look(const RunView& view, const RunLimits& limits) {
  must(view.agents().size() <= limits.agents_max);
  must(view.events().size() <= limits.events_max);
  for (const JobInfo& job : view.jobs()) {
    if (!view.rounds(job.job)) continue;
    const RoundTable& rounds = *view.rounds(job.job);
    must(rounds.size() <= limits.rounds_max);
    for (const std::uint64_t round : rounds.columns.round) must(rounds.row_of(round).has_value());
    draw(rounds.curves.seconds);
    draw(rounds.curves.bytes_up);
  }
}

void view_tampered(ByteSpan bytes) {
  static run_testing::HostileRun run;
  run_testing::HostileInput input(bytes);
  const std::uint64_t choices = input.number(1);
  run.restore();
  ManualClock clock;
  RunFollower follower({.path = run.path(), .rows_max = choices % 2 == 0 ? 4096u : 3u}, clock);
  const RunLimits limits = {.jobs_max = 2,
                            .rounds_max = 16,
                            .agents_max = 4,
                            .metric_curves_max = 4,
                            .links_max = 2,
                            .events_max = 4};
  RunView view(limits);
  for (const bool tampered : {false, true}) {
    if (tampered) {
      run.tamper(input);
      clock.advance(std::chrono::seconds(2));
    }
    for (int steps = 0;; ++steps) {
      RunChanges changes;
      const Result<bool> more = follower.step(changes);
      view.apply(std::move(changes));
      must(steps < kViewStepsMax);
      if (!more.ok() || !*more) break;
    }
    look(view, limits);
  }
}

}  // namespace
}  // namespace tributary::dashboard

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::dashboard::view_tampered({data, size});
  return 0;
}
