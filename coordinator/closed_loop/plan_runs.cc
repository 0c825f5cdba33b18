#include "coordinator/closed_loop/plan_runs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <utility>

#include "core/base/thread_pool.h"

namespace tributary {
namespace {

// The first of the sorted choices is always among those that are played.
std::vector<Verified> verify(const PlanScenario& scenario, const TrueFederation& federation,
                             const HindsightResult& hindsight, std::uint64_t seed) {
  std::vector<Verified> verified;
  const double most_s = kVerifiedTimesMax * hindsight.fixed.front().seconds;
  for (std::size_t i = 0; i < hindsight.fixed.size(); i += kVerifiedEvery) {
    const FixedResult& fixed = hindsight.fixed[i];
    if (fixed.seconds > most_s) break;
    verified.push_back({.choice = fixed.choice,
                        .hindsight_s = fixed.seconds,
                        .played_s = play_fixed(scenario, federation, fixed.choice, seed)});
  }
  return verified;
}

class PlanRuns {
 public:
  PlanRuns(const PlanScenario& scenario, const PlanRunsRequest& request)
      : scenario_(scenario), request_(request), runs_(request.seeds) {}

  Result<std::vector<PlanRun>> run() {
    ThreadPool pool(request_.threads);
    pool.parallel_for(runs_.size(), [&](std::size_t place) {
      const Status status = stopped_ ? Status() : run_seed(place);
      if (status.ok()) return;
      const std::lock_guard lock(mutex_);
      if (failed_.ok()) failed_ = status;
      stopped_ = true;
    });
    TRIBUTARY_TRY(failed_);
    return std::move(runs_);
  }

 private:
  Status run_seed(std::size_t place) {
    const std::uint64_t seed = request_.first_seed + place;
    const TrueFederation federation = make_federation(scenario_, seed);
    PlanRun& run = runs_[place];
    run.seed = seed;
    const std::function<bool()> ask = [this] { return go_on(); };
    TRIBUTARY_ASSIGN(run.planner, run_closed_loop(scenario_, federation, seed, ask));
    if (request_.hindsight) {
      TRIBUTARY_ASSIGN(run.hindsight, look_back(scenario_, federation, ask));
      run.verified = verify(scenario_, federation, run.hindsight, seed);
    }
    const std::lock_guard lock(mutex_);
    ++done_;
    return {};
  }

  // The caller's progress function may stop all runs. It is asked once per round.
  bool go_on() {
    const std::lock_guard lock(mutex_);
    if (request_.progress && !request_.progress(done_, runs_.size())) stopped_ = true;
    return !stopped_;
  }

  const PlanScenario& scenario_;
  const PlanRunsRequest& request_;
  std::vector<PlanRun> runs_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
  Status failed_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

double Verified::error() const { return std::abs(played_s / hindsight_s - 1); }

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Result<std::vector<PlanRun>> run_plan_seeds(const PlanScenario& scenario,
                                            const PlanRunsRequest& request) {
  return PlanRuns(scenario, request).run();
}

}  // namespace tributary
