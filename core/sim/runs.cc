#include "core/sim/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "core/base/bytes/checksum.h"
#include "core/base/thread_pool.h"

namespace tributary {
namespace {

// The threads share the counters below and write to different reports.
class Runs {
 public:
  Runs(const Scenario& scenario, const RunsRequest& request)
      : scenario_(scenario), request_(request), reports_(request.seeds) {}

  Result<RunsReport> run() {
    ThreadPool pool(std::min<std::size_t>(request_.threads, request_.seeds));
    // Each seed writes only its own element of reports_, so the reports need no lock.
    pool.parallel_for(request_.seeds, [&](std::size_t place) {
      if (!stopped_ && !failed_) run_seed(place);
    });
    if (stopped_) return Status(StatusCode::cancelled, {.what = "simulation"});
    return gather();
  }

 private:
  bool repeats(std::size_t place) const {
    return request_.repeat_every != 0 && place % request_.repeat_every == 0;
  }

  // Runs a seed, and runs it again if it is one of those that are repeated. A second run with
  // violations would only repeat them.
  void run_seed(std::size_t place) {
    std::optional<SimReport> report = simulate_once(place);
    if (!report) return;
    if (repeats(place) && report->violations == 0) {
      const std::optional<SimReport> again = simulate_once(place);
      if (!again) return;
      if (again->state_hash != report->state_hash) {
        report->violations = 1;
        report->found.push_back({"determinism", static_cast<TimeNs>(again->virtual_s * 1e9),
                                 fmt::format("the same seed ended in state {:016x}, and then in "
                                             "state {:016x}",
                                             report->state_hash, again->state_hash)});
      }
    }
    if (report->violations != 0 && request_.stop_at_violation) failed_ = true;
    reports_[place] = std::move(report);
  }

  std::optional<SimReport> simulate_once(std::size_t place) {
    SimOptions options;
    options.seed = request_.first_seed + place;
    options.mutation = request_.mutation;
    options.progress = [this](std::uint64_t) { return count_round(); };
    Result<SimReport> report = simulate(scenario_, options);
    if (!report.ok()) return std::nullopt;
    return std::move(*report);
  }

  // The caller's progress function may stop all runs.
  bool count_round() {
    const std::lock_guard lock(mutex_);
    ++rounds_done_;
    if (request_.progress && !request_.progress(rounds_done_, rounds_in_all())) stopped_ = true;
    return !stopped_;
  }

  // An upper bound that grows if a run commits more rounds than the scenario states.
  std::uint64_t rounds_in_all() const {
    const std::uint64_t repeated =
        request_.repeat_every == 0
            ? 0
            : (request_.seeds + request_.repeat_every - 1) / request_.repeat_every;
    return std::max((request_.seeds + repeated) * scenario_.rounds, rounds_done_);
  }

  // Merges the reports in the order of the seeds, so that the result does not depend on the
  // threads.
  RunsReport gather() const {
    RunsReport sum;
    Checksum states;
    for (std::size_t place = 0; place < reports_.size(); ++place) {
      if (!reports_[place]) continue;
      const SimReport& report = *reports_[place];
      ++sum.seeds;
      if (repeats(place)) ++sum.repeated;
      sum.violations += report.violations;
      if (!report.found.empty()) sum.failed.push_back({report.seed, report.found.front()});
      sum.rounds_committed += report.rounds_committed;
      for (const auto& [collective, rounds] : report.collectives) {
        sum.collectives[collective] += rounds;
      }
      for (const auto& [kind, count] : report.faults) {
        sum.faults[kind] += count;
        ++sum.faults_missed[kind];  // for now: number of runs in which the fault happened
      }
      for (const auto& [note, count] : report.notes) sum.notes[note] += count;
      sum.virtual_s += report.virtual_s;
      sum.events += report.events;
      sum.messages += report.messages;
      sum.bytes += report.bytes;
      sum.conservation_error_max =
          std::max(sum.conservation_error_max, report.conservation_error_max);
      sum.budget += report.budget;
      sum.queue_s_max = std::max(sum.queue_s_max, report.queue_s_max);
      states.update(bytes_of(std::span(&report.state_hash, 1)));
      sum.state_hash = report.state_hash;
      sum.runs.push_back({.seed = report.seed,
                          .state_hash = report.state_hash,
                          .rounds_committed = report.rounds_committed,
                          .models_hash = report.models_hash,
                          .bytes_by_message = report.bytes_by_message});
    }
    // A fault that happened in every run is not missed.
    std::erase_if(sum.faults_missed, [&](const auto& kind) { return kind.second == sum.seeds; });
    if (sum.seeds != 1) sum.state_hash = states.finish64();
    return sum;
  }

  const Scenario& scenario_;
  const RunsRequest& request_;
  std::vector<std::optional<SimReport>> reports_;
  std::mutex mutex_;
  std::uint64_t rounds_done_ = 0;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> failed_ = false;
};

}  // namespace

Result<RunsReport> run_seeds(const Scenario& scenario, const RunsRequest& request) {
  return Runs(scenario, request).run();
}

}  // namespace tributary
