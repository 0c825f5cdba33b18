// What a RunFollower has read since it was last asked, as values that one thread hands to another:
// the follower's reads the file, and the one that shows it puts this into its RunView.
//
// Times (*_s without another meaning) are seconds by the calendar since RunChanges::base_wall_ns.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log/log.h"
#include "core/round/common/machine/readings.h"
#include "schemas/frame_generated.h"

namespace tributary {

// What a run is looked at for first.
inline constexpr std::string_view kAccuracyMetric = reading_name(ReadingKind::evaluation_accuracy);
inline constexpr std::string_view kLossMetric = reading_name(ReadingKind::evaluation_loss);

// Where no number is known.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct JobInfo {
  std::uint64_t job = 0;
  std::string name = {};  // empty: the definition cannot be read
  wire::JobState state = wire::JobState::unspecified;
  std::string reason = {};  // of the state
  std::string model = {};
  std::uint64_t rounds_wanted = 0;  // 0: the definition does not say
  std::uint64_t parameters = 0;     // values of the layer map; 0 likewise
  std::int64_t submitted_wall_ns = 0;
};

// A committed round, but for its plan.
struct NewRound {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::uint32_t attempt = 0;
  double began_s = 0;
  double ended_s = 0;
  std::uint32_t members = 0;
  std::uint32_t contributors = 0;  // of the bucket that has most
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  double dense_bytes_up = 0;  // float32 instead; NaN: the number of parameters is not known
  double dense_bytes_down = 0;
};

struct NewPlan {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::string codecs = {};  // each once, with commas between; empty: it does not say
  std::string collectives = {};
  std::string trigger = {};
  double ratio = 0;        // of the exchange with most values; NaN: no plan
  double predicted_s = 0;  // of the choice; NaN: nothing was predicted
};

// What an agent keeps of its update at most, in the newest plan that says so.
struct AgentRatio {
  std::uint64_t job = 0;
  std::string agent_id = {};
  double ratio = 1;
};

struct NewMetric {
  std::uint64_t job = 0;  // 0: of none
  std::uint64_t round = 0;
  std::string name = {};
  std::string agent_id = {};  // empty: the coordinator's
  double time_s = 0;
  double value = 0;  // NaN: a gap
};

struct AgentInfo {
  std::int64_t number = 0;  // in the file
  std::string agent_id = {};
  std::string build = {};
  std::string device = {};
  bool connected = false;
  std::uint64_t job = 0;  // that it serves; 0: none
  std::uint64_t model_version = 0;
  std::int64_t seen_wall_ns = 0;
};

// An agent's report; what is not known is NaN.
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
  double gain = 0;  // share of its update's energy that what it kept has
  std::uint64_t examples = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};

struct NewLinkSample {
  std::string from = {};  // agent ids; empty: the coordinator
  std::string to = {};
  double time_s = 0;
  double alpha_s = 0;  // NaN: not measured
  double beta_s_per_byte = 0;
};

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
