// Reads all tables of a run except jobs and rounds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include "core/run/run_reader.h"
#include "core/store/coordinator/packed.h"
#include "core/store/coordinator/stored_frames.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

// The metrics that are read first, in this order.
constexpr std::array<std::string_view, 2> kHeadlines = {kAccuracyMetric, kLossMetric};
// A plan's frame costs about as much as this number of rows.
constexpr std::uint32_t kRowsPerFrame = 8;

double number_of(const std::optional<double>& value) { return value.value_or(kUnknown); }

bool is_headline(std::string_view name) {
  return std::ranges::find(kHeadlines, name) != kHeadlines.end();
}

}  // namespace

// --- metrics -----------------------------------------------------------------------------------

Status RunReader::read_metric(Rows& row, std::int64_t& last, RunChanges& changes) {
  NewMetric metric;
  std::int64_t number = 0;
  std::int64_t at_wall_ns = 0;
  std::optional<double> value;
  TRIBUTARY_TRY(
      row.read(number, at_wall_ns, metric.name, value, metric.job, metric.round, metric.agent_id));
  metric.time_s = seconds_of(at_wall_ns);
  metric.value = number_of(value);
  last = number;
  changes.metrics.push_back(std::move(metric));
  return {};
}

// Reads one metric after another, up to the row that was the last one at the beginning.
Result<bool> RunReader::read_headline(RunChanges& changes) {
  if (headline_.index == kHeadlines.size()) return true;
  const std::size_t before = changes.metrics.size();
  TRIBUTARY_TRY(file_->database().each(
      "SELECT metric, at_wall_ns, substr(name, 1, 64), value, job, round, substr(agent_id, 1, 64) "
      "FROM metrics WHERE name = ? AND metric > ? AND metric <= ? ORDER BY metric LIMIT ?",
      [&](Rows& row) { return read_metric(row, headline_.metric, changes); },
      kHeadlines[headline_.index], headline_.metric, headline_.end, portion_.rows_max));
  if (changes.metrics.size() - before == portion_.rows_max) return false;
  headline_.metric = 0;
  return ++headline_.index == kHeadlines.size();
}

// Skips rows of the headline that have been read already.
Result<bool> RunReader::read_metrics(RunChanges& changes) {
  std::uint32_t rows = 0;
  const auto add = [&](Rows& row) -> Status {
    ++rows;
    TRIBUTARY_TRY(read_metric(row, position_.metric, changes));
    const bool is_known =
        position_.metric <= headline_.end && is_headline(changes.metrics.back().name);
    if (is_known) changes.metrics.pop_back();
    return {};
  };
  TRIBUTARY_TRY(file_->database().each(
      "SELECT metric, at_wall_ns, substr(name, 1, 64), value, job, round, substr(agent_id, 1, 64) "
      "FROM metrics WHERE metric > ? ORDER BY metric LIMIT ?",
      add, position_.metric, portion_.rows_max));
  return rows < portion_.rows_max;
}

// --- agents ------------------------------------------------------------------------------------

// All agents are read each time: their rows change in place.
Result<bool> RunReader::read_agents(RunChanges& changes) {
  std::vector<AgentInfo> agents;
  const auto add = [&](Rows& row) -> Status {
    AgentInfo& agent = agents.emplace_back();
    std::optional<std::string> build;
    std::optional<std::string> device;
    std::optional<std::uint64_t> job;
    std::optional<std::uint64_t> model_version;
    TRIBUTARY_TRY(row.read(agent.number, agent.agent_id, build, device, agent.connected, job,
                           model_version, agent.seen_wall_ns));
    agent.build = build.value_or("");
    agent.device = device.value_or("");
    agent.job = job.value_or(0);
    agent.model_version = model_version.value_or(0);
    return {};
  };
  TRIBUTARY_TRY(file_->database().each(
      "SELECT agent, substr(agent_id, 1, 64), substr(build, 1, 256), substr(device_model, 1, 256), "
      "connected != 0, job, model_version, seen_wall_ns FROM agents ORDER BY agent LIMIT ?",
      add, wire::kMembersMax));
  changes.agents = std::move(agents);
  return true;
}

Result<bool> RunReader::read_reports(RunChanges& changes) {
  const std::size_t before = changes.reports.size();
  const auto add = [&](Rows& row) -> Status {
    NewReport report;
    std::int64_t number = 0;
    std::array<std::optional<double>, 8> numbers;
    TRIBUTARY_TRY(row.read(number, report.agent, report.job, report.round, numbers[0], numbers[1],
                           numbers[2], numbers[3], numbers[4], numbers[5], report.examples,
                           report.bytes_up, report.bytes_down, numbers[6], numbers[7]));
    report.loss = number_of(numbers[0]);
    report.compute_s = number_of(numbers[1]);
    report.encode_s = number_of(numbers[2]);
    report.wait_s = number_of(numbers[3]);
    report.update_norm = number_of(numbers[4]);
    report.residual_norm = number_of(numbers[5]);
    report.decode_s = number_of(numbers[6]);
    report.gain = number_of(numbers[7]);
    changes.reports.push_back(report);
    position_.report = number;
    return {};
  };
  TRIBUTARY_TRY(file_->database().each(
      fmt::format("SELECT agent_round, agent, job, round, loss, compute_s, encode_s, wait_s, "
                  "update_norm, residual_norm, examples, bytes_up, bytes_down, {} "
                  "FROM agent_rounds WHERE agent_round > ? ORDER BY agent_round LIMIT ?",
                  file_->later_report_columns()),
      add, position_.report, portion_.rows_max));
  return changes.reports.size() - before < portion_.rows_max;
}

// --- links and events --------------------------------------------------------------------------

Result<bool> RunReader::read_links(RunChanges& changes) {
  const std::size_t before = changes.links.size();
  const auto add = [&](Rows& row) -> Status {
    NewLinkSample sample;
    std::int64_t number = 0;
    std::int64_t at_wall_ns = 0;
    std::optional<double> alpha_s;
    std::optional<double> beta_s_per_byte;
    TRIBUTARY_TRY(row.read(number, at_wall_ns, sample.from, sample.to, alpha_s, beta_s_per_byte));
    sample.time_s = seconds_of(at_wall_ns);
    sample.alpha_s = number_of(alpha_s);
    sample.beta_s_per_byte = number_of(beta_s_per_byte);
    changes.links.push_back(std::move(sample));
    position_.link_sample = number;
    return {};
  };
  TRIBUTARY_TRY(file_->database().each(
      "SELECT link_sample, at_wall_ns, substr(from_id, 1, 64), substr(to_id, 1, 64), alpha_s, "
      "beta_s_per_byte FROM link_samples WHERE link_sample > ? ORDER BY link_sample LIMIT ?",
      add, position_.link_sample, portion_.rows_max));
  return changes.links.size() - before < portion_.rows_max;
}

Result<bool> RunReader::read_events(RunChanges& changes) {
  const std::size_t before = changes.events.size();
  const auto add = [&](Rows& row) -> Status {
    EventRow event;
    TRIBUTARY_TRY(row.read(event.number, event.at_wall_ns, event.level, event.name, event.reason,
                           event.source, event.text, event.job, event.round));
    // A hostile file may contain an unknown level.
    event.level = std::min(event.level, LogLevel::error);
    event.time_s = seconds_of(event.at_wall_ns);
    position_.event = event.number;
    changes.events.push_back(std::move(event));
    return {};
  };
  TRIBUTARY_TRY(file_->database().each(
      "SELECT event, at_wall_ns, level, substr(name, 1, 64), substr(reason, 1, 256), "
      "substr(source, 1, 256), substr(text, 1, 1024), job, round FROM events WHERE event > ? "
      "ORDER BY event LIMIT ?",
      add, position_.event, portion_.rows_max));
  return changes.events.size() - before < portion_.rows_max;
}

// --- plans -------------------------------------------------------------------------------------

// Reads plans only of rounds that have been read, and not of rounds that were added since.
Result<bool> RunReader::read_plans(RunChanges& changes) {
  const std::uint32_t rows_max = std::max(1u, portion_.rows_max / kRowsPerFrame);
  std::uint32_t rows = 0;
  const auto add = [&](Rows& row) {
    ++rows;
    return read_plan(row, changes);
  };
  planned_ratios_ = {};
  TRIBUTARY_TRY(file_->database().each(
      "SELECT round_row, job, round, epoch, substr(codecs, 1, 256), substr(collectives, 1, 256), "
      "substr(trigger_name, 1, 64), frame FROM plans JOIN rounds USING (round_row) "
      "WHERE round_row > ? AND round_row <= ? ORDER BY round_row LIMIT ?",
      add, position_.plan, position_.round, rows_max));
  TRIBUTARY_TRY(read_ratios(changes));
  return rows < rows_max;
}

Status RunReader::read_plan(Rows& row, RunChanges& changes) {
  NewPlan new_plan;
  std::int64_t number = 0;
  std::uint32_t epoch = 0;
  std::optional<std::string> codecs;
  std::optional<std::string> collectives;
  std::optional<std::string> trigger;
  std::optional<ByteSpan> frame;
  TRIBUTARY_TRY(
      row.read(number, new_plan.job, new_plan.round, epoch, codecs, collectives, trigger, frame));
  new_plan.codecs = codecs.value_or("");
  new_plan.collectives = collectives.value_or("");
  new_plan.trigger = trigger.value_or("");
  new_plan.ratio = new_plan.predicted_s = kUnknown;
  if (const wire::Plan* const plan = frame ? stored_plan(*frame, aligned_) : nullptr) {
    read_frame(*plan, epoch, new_plan);
  }
  changes.plans.push_back(std::move(new_plan));
  position_.plan = number;
  return {};
}

// A round may have several exchanges; the one with the most values represents it.
void RunReader::read_frame(const wire::Plan& plan, std::uint32_t epoch, NewPlan& new_plan) {
  const wire::Alternative* const chosen = stored_choice(plan);
  if (chosen) new_plan.predicted_s = chosen->round_s();
  if (!plan.exchanges() || plan.exchanges()->size() == 0) return;
  const std::vector<std::uint64_t> values = exchange_values(plan);
  const auto most = std::ranges::max_element(values) - values.begin();
  const wire::Exchange& exchange =
      *plan.exchanges()->Get(static_cast<flatbuffers::uoffset_t>(most));
  new_plan.ratio = planned_ratio(plan, exchange);
  if (!exchange.ratios() || exchange.ratios()->size() == 0) return;
  planned_ratios_ = {.job = new_plan.job,
                     .epoch = epoch,
                     .ratios = {exchange.ratios()->begin(), exchange.ratios()->end()}};
}

// Resolves the newest ratios to agent ids. An epoch that is no longer stored has none.
Status RunReader::read_ratios(RunChanges& changes) {
  if (planned_ratios_.ratios.empty()) return {};
  Bytes packed;
  TRIBUTARY_ASSIGN(
      const bool found,
      file_->database().first("SELECT member_list FROM epochs WHERE job = ? AND epoch = ?",
                              std::tie(packed), planned_ratios_.job, planned_ratios_.epoch));
  if (!found) return {};
  TRIBUTARY_ASSIGN(const std::vector<MemberRecord> members,
                   unpack_members(packed, file_->database().path()));
  for (std::size_t i = 0; i < std::min(members.size(), planned_ratios_.ratios.size()); ++i) {
    changes.ratios.push_back({.job = planned_ratios_.job,
                              .agent_id = members[i].agent_id.substr(0, wire::kAgentIdBytesMax),
                              .ratio = planned_ratios_.ratios[i]});
  }
  return {};
}

}  // namespace tributary
