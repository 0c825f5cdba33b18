// Summarizes a run in numbers and sentences: the state of its jobs and its alerts. Pure functions
// over a RunView, without widgets. They cost time linear in jobs, agents and events.
//
// The view must not change during a call. A value that the run does not contain is NaN, never 0, so
// that pages can show it as unknown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/run/view/run_view.h"

namespace tributary::dashboard {

// The summary of one job.
struct JobFacts {
  std::uint64_t job = 0;
  std::string name = {};
  wire::JobState state = wire::JobState::unspecified;
  std::string reason = {};  // of the state; may be empty
  std::uint64_t rounds_done = 0;
  std::uint64_t rounds_configured = 0;  // 0: no limit, or unknown
  std::size_t agents_up = 0;            // connected agents that serve the job
  std::size_t agents = 0;               // all agents that served it or reported to it
  double accuracy_last = kUnknown;
  double accuracy_best = kUnknown;
  double loss_last = kUnknown;
  double bytes_up = 0;
  double bytes_down = 0;
  double dense_up = kUnknown;  // NaN: unknown
  double dense_down = kUnknown;

  double bytes() const { return bytes_up + bytes_down; }
  double dense() const { return dense_up + dense_down; }
  double saved_share() const;  // share of dense(); NaN: unknown
};

// Summarizes one job of the view.
JobFacts facts_of(const RunView& view, const JobInfo& job);
std::vector<JobFacts> facts_of_jobs(const RunView& view);  // newest first

// The name of the state; "unknown" for a state of a newer version.
std::string state_text(wire::JobState state);
// Whether the job is finished or was stopped.
bool has_ended(wire::JobState state);

// A condition that an operator should notice at a glance.
struct Alert {
  double time_s = kUnknown;  // seconds of the run; NaN: applies now
  bool error = false;
  std::string text = {};
};

struct AlertLimits {
  double seconds = 600;  // age limit, counted from the newest moment of the run
  std::size_t alerts_max = 50;
};

// Lists problems with the run's file first, then jobs that were stopped with a reason, then
// warnings and errors from the newest on.
std::vector<Alert> alerts_of(const RunView& view, const Status& trouble,
                             const AlertLimits& limits = {});

// Returns the newest time in the run, in seconds of the run. NaN for a run without rounds and
// events.
double newest_moment(const RunView& view);

}  // namespace tributary::dashboard
