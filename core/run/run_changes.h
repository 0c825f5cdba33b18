// New data of a run since the last step of a RunSource, as plain values. They are passed from the
// thread that reads the file to the thread that displays it, which puts them into its RunView.
//
// Times named *_s are seconds of calendar time since RunChanges::base_wall_ns, unless stated
// otherwise. Not thread-safe: one thread owns an object at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/round/common/machine/readings.h"
#include "core/run/run_rows_generated.h"

namespace tributary {

// The metrics of the overview, which are read before all others.
inline constexpr std::string_view kAccuracyMetric = reading_name(ReadingKind::evaluation_accuracy);
inline constexpr std::string_view kLossMetric = reading_name(ReadingKind::evaluation_loss);

// Value of an unknown number.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

using JobInfo = rows::JobInfoT;
using NewRound = rows::NewRoundT;
using NewPlan = rows::NewPlanT;
using AgentRatio = rows::AgentRatioT;
using NewMetric = rows::NewMetricT;
using AgentInfo = rows::AgentInfoT;
using NewReport = rows::NewReportT;
using NewLinkSample = rows::NewLinkSampleT;
using EventRow = rows::EventRowT;

// Everything that one or several steps have read. A field that has not changed is empty.
struct RunChanges {
  // True if another file has replaced the previous one, or the run begins again: discard all
  // earlier data.
  bool begins_anew = false;
  std::optional<std::int64_t> base_wall_ns = {};
  // A warning about the file itself; an empty text: none. It is not sent across the network,
  // because the coordinator has the file open then.
  std::optional<std::string> file_warning = {};
  std::optional<std::vector<JobInfo>> jobs = {};  // all jobs, in the order of submission
  std::vector<NewRound> rounds = {};
  std::vector<NewPlan> plans = {};
  std::vector<AgentRatio> ratios = {};
  std::vector<NewMetric> metrics = {};
  std::optional<std::vector<AgentInfo>> agents = {};  // all agents
  std::vector<NewReport> reports = {};
  std::vector<NewLinkSample> links = {};
  std::vector<EventRow> events = {};
  // True once all jobs and committed rounds up to the time of opening have been read, with their
  // accuracy and loss: enough for a first display.
  bool overview_read = false;

  bool empty() const {
    return !begins_anew && !base_wall_ns && !file_warning && !jobs && rounds.empty() &&
           plans.empty() && ratios.empty() && metrics.empty() && !agents && reports.empty() &&
           links.empty() && events.empty() && !overview_read;
  }
};

}  // namespace tributary
