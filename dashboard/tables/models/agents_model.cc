#include "dashboard/tables/models/agents_model.h"

#include <algorithm>
#include <array>

namespace tributary::dashboard {
namespace {

// The values are column indexes: the order must match agent_columns().
enum AgentColumn : int {
  kAgentId,
  kAgentState,
  kAgentDevice,
  kAgentJob,
  kAgentBuild,
  kAgentLoss,
  kAgentTrend,
  kAgentMetric,
  kAgentMetricLast,
  kAgentMetricBest,
  kAgentRoundTime,
  kAgentCompute,
  kAgentEncode,
  kAgentWait,
  kAgentDecode,
  kAgentRatio,
  kAgentGain,
  kAgentResidual,
  kAgentUpdate,
  kAgentAlphaUp,
  kAgentRateUp,
  kAgentAlphaDown,
  kAgentRateDown,
  kAgentBytesUp,
  kAgentBytesDown,
  kAgentTemperature,
  kAgentPower,
  kAgentReports,
  kAgentSeen,
};

// Table cells hold doubles: 53 bits of a time in seconds are exact to less than a microsecond.
constexpr double kNanosecondsPerSecond = 1e9;

std::vector<TableColumn> agent_columns() {
  constexpr auto kText = CellKind::text;
  constexpr auto kNumber = CellKind::number;
  return {
      {"agent", "Agent", kText, Unit::one, "", true},
      {"state", "State", CellKind::rank, Unit::one, "Whether the agent is connected", true},
      {"device", "Device", kText, Unit::one, "", true},
      {"job", "Job", kText, Unit::one, "Job to which the agent is assigned", false},
      {"build", "Build", kText, Unit::one, "Version of the agent's program", false},
      {"loss", "Loss", kNumber, Unit::one, "Training loss (last round)", false},
      {"trend", "Loss, last 200", CellKind::curve, Unit::one, "Training loss of recent rounds",
       true},
      {"metric", "Metric", kText, Unit::one, "Metric of the columns Last and Best", false},
      {"last", "Last", kNumber, Unit::one,
       "Newest accuracy; without one the evaluation loss, otherwise the training loss", true},
      {"best", "Best", kNumber, Unit::one, "Highest accuracy so far; without one the lowest loss",
       true},
      {"round_time", "Round time", kNumber, Unit::seconds,
       "Time of computing, encoding and waiting (last round)", true},
      {"compute", "Compute", kNumber, Unit::seconds, "Training time (last round)", false},
      {"encode", "Encode", kNumber, Unit::seconds, "Encoding time of the update (last round)",
       false},
      {"wait", "Wait", kNumber, Unit::seconds,
       "Time spent waiting for the network and other agents (last round)", false},
      {"decode", "Decode", kNumber, Unit::seconds, "Decoding time of the result (previous round)",
       false},
      {"ratio", "Ratio", kNumber, Unit::one, "Largest share of the update that the agent sends",
       true},
      {"gain", "Gain", kNumber, Unit::share,
       "Share of the update's energy that the agent sent, when last measured", true},
      {"residual", "Residual", kNumber, Unit::one, "Norm of the updates not sent yet", true},
      {"update", "Update", kNumber, Unit::one, "Norm of the last update", false},
      {"alpha_up", "α up", kNumber, Unit::seconds, "Latency of the uplink to the coordinator",
       true},
      {"rate_up", "Rate up", kNumber, Unit::bits_per_second, "Rate of the uplink (1/β)", true},
      {"alpha_down", "α down", kNumber, Unit::seconds,
       "Latency of the downlink from the coordinator", true},
      {"rate_down", "Rate down", kNumber, Unit::bits_per_second, "Rate of the downlink (1/β)",
       true},
      {"bytes_up", "Sent", kNumber, Unit::bytes, "Bytes sent (last round)", false},
      {"bytes_down", "Received", kNumber, Unit::bytes, "Bytes received (last round)", false},
      {"temperature", "Temperature", kNumber, Unit::celsius,
       "Last reading, if the device has a sensor", false},
      {"power", "Power", kNumber, Unit::watts, "Last reading, if the device has a sensor", false},
      {"reports", "Rounds", kNumber, Unit::count, "Number of reported rounds", true},
      {"seen", "Seen", kNumber, Unit::wall_time, "Time of the last message from the agent", true},
  };
}

std::string job_name_of(const RunView& view, std::uint64_t job) {
  const auto found = std::ranges::find(view.jobs(), job, &JobInfo::job);
  return found == view.jobs().end() ? std::string() : found->name;
}

// Agents without an evaluation show their training loss as metric instead.
AgentTableRow table_row(const RunView& view, std::uint64_t job, const AgentRow& agent) {
  AgentTableRow row = {.agent = agent,
                       .job_name = job_name_of(view, agent.info.job),
                       .metric = agent.metric,
                       .metric_last = agent.metric_last,
                       .metric_best = agent.metric_best};
  const AgentCurves* const curves = view.agent_curves(job, agent.info.agent_id);
  if (!curves) return row;
  row.loss = curves->loss;
  if (!row.metric.empty()) return row;
  row.metric = "training_loss";
  row.metric_last = agent.last.loss;
  const std::optional<Extent> x = row.loss->x_extent();
  const std::optional<Extent> y = x ? row.loss->y_extent(x->low, x->high) : std::nullopt;
  row.metric_best = y ? y->low : kUnknown;
  return row;
}

// All numbers that the table shows, to detect whether a row looks different.
std::array<double, 18> numbers_of(const AgentTableRow& row) {
  const AgentRow& agent = row.agent;
  const NewReport& last = agent.last;
  return {row.metric_last,
          row.metric_best,
          agent.alpha_up_s,
          agent.alpha_down_s,
          agent.beta_up_s_per_byte,
          agent.beta_down_s_per_byte,
          agent.ratio,
          agent.temperature_c,
          agent.power_w,
          last.loss,
          last.compute_s,
          last.encode_s,
          last.wait_s,
          last.decode_s,
          agent.gain,
          last.update_norm,
          last.residual_norm,
          static_cast<double>(agent.info.seen_wall_ns)};
}

// All texts that the table shows, for the same purpose.
bool same_text(const AgentTableRow& a, const AgentTableRow& b) {
  const AgentInfo& info = a.agent.info;
  const AgentInfo& other = b.agent.info;
  return info.connected == other.connected && info.agent_id == other.agent_id &&
         info.device == other.device && info.build == other.build && a.job_name == b.job_name &&
         a.metric == b.metric;
}

}  // namespace

double round_time_s(const NewReport& report) {
  return report.compute_s + report.encode_s + report.wait_s;
}

AgentsModel::AgentsModel(QObject* parent) : RowsModel(agent_columns(), parent) {}

// All rows are built anew. RowsModel compares them with the old ones and tells the view only of
// differences.
void AgentsModel::update(const RunView& view, std::uint64_t job) {
  std::vector<AgentTableRow> now;
  now.reserve(view.agents().size());
  for (const AgentRow& agent : view.agents()) now.push_back(table_row(view, job, agent));
  show_rows(std::move(now));
}

int AgentsModel::row_of(std::string_view agent_id) const {
  const auto found = std::ranges::find_if(
      rows(), [&](const AgentTableRow& row) { return row.agent.info.agent_id == agent_id; });
  return found == rows().end() ? -1 : static_cast<int>(found - rows().begin());
}

bool AgentsModel::has_readings() const {
  return std::ranges::any_of(rows(), [](const AgentTableRow& row) {
    return !std::isnan(row.agent.temperature_c) || !std::isnan(row.agent.power_w);
  });
}

// Agent numbers are unique only within one file. After another run was opened, the same number may
// stand for another agent, so the identifiers are compared too.
bool AgentsModel::same_item(const AgentTableRow& a, const AgentTableRow& b) const {
  return a.agent.info.number == b.agent.info.number &&
         (a.agent.info.agent_id == b.agent.info.agent_id || a.agent.info.agent_id.empty());
}

bool AgentsModel::same_values(const AgentTableRow& a, const AgentTableRow& b) const {
  return a.agent.reports == b.agent.reports && a.loss == b.loss && same_text(a, b) &&
         a.agent.last.bytes_up == b.agent.last.bytes_up &&
         a.agent.last.bytes_down == b.agent.last.bytes_down &&
         std::ranges::equal(numbers_of(a), numbers_of(b), same_number);
}

double AgentsModel::number(int row, int column) const {
  const AgentTableRow& shown = row_at(row);
  const AgentRow& agent = shown.agent;
  const bool reported = agent.reports > 0;
  switch (column) {
    case kAgentState:
      return agent.info.connected ? 0 : 1;
    case kAgentLoss:
      return agent.last.loss;
    case kAgentMetricLast:
      return shown.metric_last;
    case kAgentMetricBest:
      return shown.metric_best;
    case kAgentRoundTime:
      return round_time_s(agent.last);
    case kAgentCompute:
      return agent.last.compute_s;
    case kAgentEncode:
      return agent.last.encode_s;
    case kAgentWait:
      return agent.last.wait_s;
    case kAgentDecode:
      return agent.last.decode_s;
    case kAgentRatio:
      return agent.ratio;
    case kAgentGain:
      return agent.gain;
    case kAgentResidual:
      return agent.last.residual_norm;
    case kAgentUpdate:
      return agent.last.update_norm;
    case kAgentAlphaUp:
      return agent.alpha_up_s;
    case kAgentRateUp:
      return bits_per_second(agent.beta_up_s_per_byte);
    case kAgentAlphaDown:
      return agent.alpha_down_s;
    case kAgentRateDown:
      return bits_per_second(agent.beta_down_s_per_byte);
    case kAgentBytesUp:
      return reported ? static_cast<double>(agent.last.bytes_up) : kUnknown;
    case kAgentBytesDown:
      return reported ? static_cast<double>(agent.last.bytes_down) : kUnknown;
    case kAgentTemperature:
      return agent.temperature_c;
    case kAgentPower:
      return agent.power_w;
    case kAgentReports:
      return static_cast<double>(agent.reports);
    case kAgentSeen:
      return agent.info.seen_wall_ns == 0
                 ? kUnknown
                 : static_cast<double>(agent.info.seen_wall_ns) / kNanosecondsPerSecond;
    default:
      return kUnknown;
  }
}

std::string_view AgentsModel::words(int row, int column) const {
  const AgentTableRow& shown = row_at(row);
  const AgentInfo& info = shown.agent.info;
  switch (column) {
    case kAgentId:
      return info.agent_id.empty() ? "(unnamed)" : std::string_view(info.agent_id);
    case kAgentState:
      return info.connected ? "connected" : "away";
    case kAgentDevice:
      return info.device;
    case kAgentJob:
      return shown.job_name;
    case kAgentBuild:
      return info.build;
    case kAgentMetric:
      return shown.metric;
    default:
      return {};
  }
}

SharedSeries AgentsModel::curve(int row, int column) const {
  return column == kAgentTrend ? row_at(row).loss : nullptr;
}

QString AgentsModel::number_text(int row, int column) const {
  const bool of_metric = column == kAgentMetricLast || column == kAgentMetricBest;
  const double value = number(row, column);
  // An accuracy is shown in percent; a loss has no unit.
  const bool is_share = of_metric && row_at(row).metric == kAccuracyMetric;
  return is_share && std::isfinite(value) ? text_of(Unit::share, value)
                                          : TableModel::number_text(row, column);
}

CellMark AgentsModel::mark(int row, int column) const {
  const bool away = !row_at(row).agent.info.connected;
  return away && column == kAgentState ? CellMark::faint : CellMark::none;
}

}  // namespace tributary::dashboard
