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

#include "core/base/log/log.h"
#include "schemas/frame_generated.h"

namespace tributary {

// The metrics that are read and displayed first.
inline constexpr std::string_view kAccuracyMetric = "evaluation_accuracy";
inline constexpr std::string_view kLossMetric = "evaluation_loss";

// Value of an unknown number.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// A job and the values of its definition that pages display.
struct JobInfo {
  std::uint64_t job = 0;
  std::string name = {};  // empty: the definition cannot be read
  wire::JobState state = wire::JobState::unspecified;
  std::string reason = {};  // reason of the state
  std::string model = {};
  std::uint64_t rounds_wanted = 0;  // 0: the definition does not say
  std::uint64_t parameters = 0;     // values of the layer map; 0: the definition does not say
  std::int64_t submitted_wall_ns = 0;
};

// A committed round without its plan, which is read later.
struct NewRound {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::uint32_t attempt = 0;
  double began_s = 0;
  double ended_s = 0;
  std::uint32_t members = 0;
  std::uint32_t contributors = 0;  // in the bucket with the most contributors
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  // The same traffic as float32; NaN: the number of parameters is unknown.
  double dense_bytes_up = 0;
  double dense_bytes_down = 0;
};

// The plan of a round that was announced before.
struct NewPlan {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::string codecs = {};  // each once, separated by commas; empty: the plan does not say
  std::string collectives = {};
  std::string trigger = {};
  double ratio = 0;        // ratio of the exchange with the most values; NaN: no plan
  double predicted_s = 0;  // predicted duration of the chosen alternative; NaN: no prediction
};

// The largest ratio that an agent keeps, from the newest plan that states it.
struct AgentRatio {
  std::uint64_t job = 0;
  std::string agent_id = {};
  double ratio = 1;
};

// A reading of a metric.
struct NewMetric {
  std::uint64_t job = 0;  // 0: belongs to no job
  std::uint64_t round = 0;
  std::string name = {};
  std::string agent_id = {};  // empty: a metric of the coordinator
  double time_s = 0;
  double value = 0;  // NaN: no value
};

// An agent as the coordinator knows it.
struct AgentInfo {
  std::int64_t number = 0;  // key of the agent in the file
  std::string agent_id = {};
  std::string build = {};
  std::string device = {};
  bool connected = false;
  std::uint64_t job = 0;  // the job that it works for; 0: none
  std::uint64_t model_version = 0;
  std::int64_t seen_wall_ns = 0;
};

// An agent's report on a round. Unknown values are NaN.
struct NewReport {
  std::int64_t agent = 0;  // AgentInfo::number
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  double loss = 0;
  double compute_s = 0;
  double encode_s = 0;
  double wait_s = 0;
  double decode_s = 0;
  double update_norm = 0;
  double residual_norm = 0;
  double gain = 0;  // share of its update's energy that its encoding kept
  std::uint64_t examples = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};

// A measurement of a link in one direction.
struct NewLinkSample {
  std::string from = {};  // agent id; empty: the coordinator
  std::string to = {};
  double time_s = 0;
  double alpha_s = 0;  // NaN: not measured
  double beta_s_per_byte = 0;
};

// An event that the coordinator has stored.
struct EventRow {
  std::int64_t number = 0;
  std::int64_t at_wall_ns = 0;
  double time_s = 0;
  LogLevel level = LogLevel::info;
  std::string name = {};
  std::string reason = {};
  std::string source = {};
  std::string text = {};
  std::uint64_t job = 0;
  std::uint64_t round = 0;
};

// Everything that one or several steps have read. A field that has not changed is empty.
struct RunChanges {
  // True if another file has replaced the previous one, or the run begins again: discard all
  // earlier data.
  bool begins_anew = false;
  std::optional<std::int64_t> base_wall_ns = {};
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
  // accuracy and loss: enough for a first picture.
  bool overview_read = false;

  bool empty() const {
    return !begins_anew && !base_wall_ns && !jobs && rounds.empty() && plans.empty() &&
           ratios.empty() && metrics.empty() && !agents && reports.empty() && links.empty() &&
           events.empty() && !overview_read;
  }
};

}  // namespace tributary
