#include "cli/report/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/run/run_changes.h"

namespace tributary::report {
namespace {

// A damaged file may contain any number; the conversion must stay defined.
std::uint64_t whole(double bytes) {
  return static_cast<std::uint64_t>(std::llround(std::clamp(bytes, 0.0, 9e18)));
}

// The evaluations of one metric. The best value is the highest one, which is meaningful for
// accuracy only.
struct Evaluation {
  std::optional<double> last;
  std::optional<double> best;
  bool by_agents = false;
};

// Returns the mean over the agents for each round, in the order of the rounds.
std::vector<double> means(const std::map<std::string, std::vector<MetricRow>>& by_agent) {
  std::map<std::uint64_t, std::pair<double, double>> sums;
  for (const auto& [agent, rows] : by_agent) {
    for (const MetricRow& row : rows) {
      if (!std::isfinite(row.value)) continue;
      sums[row.round].first += row.value;
      sums[row.round].second += 1;
    }
  }
  std::vector<double> out;
  for (const auto& [round, sum] : sums) out.push_back(sum.first / sum.second);
  return out;
}

// The coordinator's own test set if it has one, otherwise the mean over the agents' hold-outs. The
// two are never mixed.
Evaluation evaluation(const RunData& data, std::string_view name) {
  const auto by_agent = data.metric(name);
  Evaluation out;
  std::vector<double> values;
  if (const auto own = by_agent.find(""); own != by_agent.end()) {
    for (const MetricRow& row : own->second) {
      if (std::isfinite(row.value)) values.push_back(row.value);
    }
  } else {
    values = means(by_agent);
    out.by_agents = !values.empty();
  }
  if (values.empty()) return out;
  out.last = values.back();
  out.best = *std::ranges::max_element(values);
  return out;
}

// Readings of the coordinator have an empty agent id.
std::optional<std::uint64_t> sum_of_metric(const RunData& data, std::string_view name) {
  const auto by_agent = data.metric(name);
  const auto own = by_agent.find("");
  if (own == by_agent.end()) return std::nullopt;
  double sum = 0;
  for (const MetricRow& row : own->second) sum += std::isfinite(row.value) ? row.value : 0;
  return whole(sum);
}

// Two rounds with the same text have the same plan as far as a report distinguishes plans.
std::string plan_text(const RoundRow& row) {
  const double ratio = row.ratio();
  const std::string kept =
      std::isfinite(ratio) && ratio != 1 ? fmt::format(", {:.3g} kept", ratio) : "";
  return row.codecs() + kept + ", " + row.collectives();
}

using Values = std::map<std::string, std::uint64_t>;

// Returns the name with most values; empty without any.
std::string most_of(const Values& values) {
  const auto most =
      std::ranges::max_element(values, {}, [](const auto& each) { return each.second; });
  return most == values.end() ? std::string() : most->first;
}

// A round with several codecs counts once for each of them. The main codec is the one of most
// values, not of most rounds.
void count_plans(const RunData& data, RunFigures& out) {
  Values by_codec;
  Values by_collective;
  // The previous round with a readable plan.
  const RoundRow* before = nullptr;
  for (const RoundRow& row : data.rounds) {
    if (!row.planned) continue;
    std::set<std::string> codecs;
    std::set<std::string> collectives;
    for (const ExchangeUse& exchange : row.exchanges) {
      codecs.insert(exchange.codec);
      collectives.insert(exchange.collective);
      by_codec[exchange.codec] += exchange.values;
      by_collective[exchange.collective] += exchange.values;
    }
    for (const std::string& codec : codecs) ++out.codecs[codec];
    for (const std::string& collective : collectives) ++out.collectives[collective];
    ++out.choices[plan_text(row)];
    if (before && plan_text(*before) != plan_text(row)) {
      out.switches.push_back({.round = row.round,
                              .at_s = row.began_s,
                              .from = plan_text(*before),
                              .to = plan_text(row),
                              .trigger = row.trigger,
                              .sentence = row.sentence});
    }
    before = &row;
  }
  out.main_codec = most_of(by_codec);
  out.main_collective = most_of(by_collective);
}

// The dense sizes stay empty without the number of parameters, because a wrong ratio is worse than
// none.
void count_bytes(const RunData& data, RunFigures& out) {
  double dense_up = 0;
  double dense_down = 0;
  for (const RoundRow& row : data.rounds) {
    out.bytes_up += row.bytes_up;
    out.bytes_down += row.bytes_down;
    dense_up += row.dense_bytes_up;
    dense_down += row.dense_bytes_down;
    out.contributions_asked += row.asked;
    out.contributions_missed += row.asked - std::min(row.asked, row.contributors);
  }
  if (data.parameters == 0) return;
  out.bytes_dense_up = whole(dense_up);
  out.bytes_dense_down = whole(dense_down);
}

}  // namespace

RunFigures figures_of(const RunData& data) {
  RunFigures out;
  out.job = data.job;
  out.job_name = data.job_name;
  out.missing = data.missing;
  out.state = data.state;
  out.rounds = data.rounds.size();
  out.rounds_configured = data.rounds_configured;
  if (!data.rounds.empty()) out.wall_s = data.rounds.back().ended_s - data.rounds.front().began_s;
  out.agents = data.agents.size();
  const Evaluation accuracy = evaluation(data, kAccuracyMetric);
  const Evaluation loss = evaluation(data, kLossMetric);
  out.accuracy_final = accuracy.last;
  out.accuracy_best = accuracy.best;
  out.loss_final = loss.last;
  out.evaluated_by_agents = accuracy.last ? accuracy.by_agents : loss.by_agents;
  for (const RoundRow& row : data.rounds) {
    if (std::isfinite(row.train_loss)) out.train_loss_final = row.train_loss;
  }
  count_bytes(data, out);
  out.wire_bytes_up = sum_of_metric(data, reading_name(ReadingKind::wire_bytes_up));
  out.wire_bytes_down = sum_of_metric(data, reading_name(ReadingKind::wire_bytes_down));
  count_plans(data, out);
  out.aborts = data.aborts;
  out.divergences = data.divergences;
  out.replicas_identical = data.divergences == 0;
  for (const MetricRow& row : data.metrics) {
    if (row.name != "conservation_error" || !std::isfinite(row.value)) continue;
    out.conservation_error_max = std::max(out.conservation_error_max.value_or(0), row.value);
  }
  return out;
}

std::optional<double> ratio_of(std::optional<std::uint64_t> dense, std::uint64_t bytes) {
  if (!dense || bytes == 0) return std::nullopt;
  return static_cast<double>(*dense) / static_cast<double>(bytes);
}

}  // namespace tributary::report
