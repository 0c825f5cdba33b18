// What a RunFollower has read since it was last asked, as values that one thread hands to another:
// the follower's reads the file, and the one that shows it puts this into its RunView. The rows'
// columns stand in run_rows.fbs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "core/round/common/machine/readings.h"
#include "core/run/run_rows_generated.h"

namespace tributary {

// What a run is looked at for first.
inline constexpr std::string_view kAccuracyMetric = reading_name(ReadingKind::evaluation_accuracy);
inline constexpr std::string_view kLossMetric = reading_name(ReadingKind::evaluation_loss);

// Where no number is known.
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

struct RunChanges {
  // Another file is in the place of the one before, or it begins anew: forget what was there.
  bool begins_anew = false;
  std::optional<std::int64_t> base_wall_ns = {};
  std::optional<std::vector<JobInfo>> jobs = {};  // all of them, as they were submitted
  std::vector<NewRound> rounds = {};
  std::vector<NewPlan> plans = {};
  std::vector<AgentRatio> ratios = {};
  std::vector<NewMetric> metrics = {};
  std::optional<std::vector<AgentInfo>> agents = {};  // all of them
  std::vector<NewReport> reports = {};
  std::vector<NewLinkSample> links = {};
  std::vector<EventRow> events = {};
  // Jobs, rounds and what they came to are there up to the moment of opening: enough for a first
  // picture.
  bool overview_read = false;

  bool empty() const {
    return !begins_anew && !base_wall_ns && !jobs && rounds.empty() && plans.empty() &&
           ratios.empty() && metrics.empty() && !agents && reports.empty() && links.empty() &&
           events.empty() && !overview_read;
  }
};

}  // namespace tributary
