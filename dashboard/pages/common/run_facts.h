// What is said of a run in numbers and sentences, taken from what is known of it. No widgets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/run/view/run_view.h"

namespace tributary::dashboard {

struct JobFacts {
  std::uint64_t job = 0;
  std::string name = {};
  wire::JobState state = wire::JobState::unspecified;
  std::string reason = {};  // of the state
  std::uint64_t rounds_done = 0;
  std::uint64_t rounds_wanted = 0;  // 0: until it is stopped, or not known
  std::size_t agents_up = 0;        // that serve it and are connected
  std::size_t agents = 0;           // that were ever told of it, or of the run
  double accuracy_last = kUnknown;
  double accuracy_best = kUnknown;
  double loss_last = kUnknown;
  double bytes_up = 0;
  double bytes_down = 0;
  double dense_up = kUnknown;  // NaN: not known
  double dense_down = kUnknown;

  double bytes() const { return bytes_up + bytes_down; }
  double dense() const { return dense_up + dense_down; }
  double saved_share() const;  // of dense(); NaN: not known
};

JobFacts facts_of(const RunView& view, const JobInfo& job);
std::vector<JobFacts> facts_of_jobs(const RunView& view);  // the newest first

std::string state_text(wire::JobState state);
bool has_ended(wire::JobState state);

// Something that a person who looks for a moment must not miss.
struct Alert {
  double time_s = kUnknown;  // NaN: it is so now
  bool error = false;
  std::string text = {};
};

struct AlertLimits {
  double seconds = 600;  // before the last thing that is known of the run
  std::size_t alerts_max = 50;
};

// Trouble with the file first, then jobs that were stopped for a reason, then the newest warnings
// and errors.
std::vector<Alert> alerts_of(const RunView& view, const Status& trouble,
                             const AlertLimits& limits = {});

// The newest moment that the run tells of, in its own seconds; NaN before there is any.
double newest_moment(const RunView& view);

}  // namespace tributary::dashboard
