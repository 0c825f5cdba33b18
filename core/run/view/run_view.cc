#include "core/run/view/run_view.h"

#include <algorithm>
#include <cmath>

namespace tributary::dashboard {
namespace {

// Minimum number of curves among which a limit is divided, and minimum share of a curve in samples.
constexpr std::size_t kSharesMin = 16;
constexpr std::size_t kShareMin = 256;

// Metrics for which a smaller value is better.
bool is_small_best(std::string_view metric) {
  return metric.find("loss") != std::string_view::npos ||
         metric.find("error") != std::string_view::npos || metric.ends_with("_s");
}

template <typename Map, typename Key>
const typename Map::mapped_type::element_type* find_in(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second.get();
}

}  // namespace

double MetricCurve::best() const { return is_small_best(name) ? lowest : highest; }

AgentCurves::AgentCurves(std::size_t samples_max)
    : loss(std::make_shared<Series>(samples_max)),
      compute_s(std::make_shared<Series>(samples_max)),
      encode_s(std::make_shared<Series>(samples_max)),
      wait_s(std::make_shared<Series>(samples_max)),
      decode_s(std::make_shared<Series>(samples_max)),
      gain(std::make_shared<Series>(samples_max)),
      bytes_up(std::make_shared<Series>(samples_max)),
      bytes_down(std::make_shared<Series>(samples_max)),
      residual_norm(std::make_shared<Series>(samples_max)),
      update_norm(std::make_shared<Series>(samples_max)) {}

RunView::RunView(const RunLimits& limits) : limits_(limits) {}

template <typename Part, typename Items>
void RunView::take_all(Part& revision, Items& items) {
  if (items.empty()) return;
  for (auto& item : items) take(std::move(item));
  ++revision;
}

// The order matters, because rows refer to agents and jobs that come before them.
void RunView::apply(RunChanges&& changes) {
  if (changes.begins_anew) forget();
  if (changes.base_wall_ns) base_wall_ns_ = *changes.base_wall_ns;
  if (changes.file_warning) file_warning_ = std::move(*changes.file_warning);
  if (changes.jobs) take(std::move(*changes.jobs));
  take_all(revisions_.rounds, changes.rounds);
  take_all(revisions_.rounds, changes.plans);
  if (changes.agents) take(std::move(*changes.agents));
  take_all(revisions_.agents, changes.ratios);
  take_all(revisions_.metrics, changes.metrics);
  take_all(revisions_.reports, changes.reports);
  take_all(revisions_.links, changes.links);
  take_all(revisions_.events, changes.events);
  overview_read_ = overview_read_ || changes.overview_read;
}

// The revisions continue, so pages notice that everything has changed.
void RunView::forget() {
  const Revisions was = revisions_;
  *this = RunView(limits_);
  revisions_ = {.jobs = was.jobs + 1,
                .rounds = was.rounds + 1,
                .metrics = was.metrics + 1,
                .agents = was.agents + 1,
                .reports = was.reports + 1,
                .links = was.links + 1,
                .events = was.events + 1};
}

void RunView::take(std::vector<JobInfo>&& jobs) {
  if (jobs.size() > limits_.jobs_max) {  // the newest jobs are kept
    left_out_ += jobs.size() - limits_.jobs_max;
    jobs.erase(jobs.begin(), jobs.end() - static_cast<std::ptrdiff_t>(limits_.jobs_max));
  }
  jobs_ = std::move(jobs);
  ++revisions_.jobs;
}

// The table of a job is created with its first round.
void RunView::take(const NewRound& round) {
  auto found = rounds_.find(round.job);
  if (found == rounds_.end()) {
    if (rounds_.size() >= limits_.jobs_max) {
      ++left_out_;
      return;
    }
    found = rounds_.emplace(round.job, std::make_unique<RoundTable>(limits_.rounds_max)).first;
  }
  found->second->add(round);
}

void RunView::take(const NewPlan& plan) {
  const auto found = rounds_.find(plan.job);
  if (found != rounds_.end()) found->second->add(plan);
}

void RunView::take(NewMetric&& metric) {
  MetricKey key = {.job = metric.job, .name = metric.name, .agent_id = metric.agent_id};
  auto found = metrics_.find(key);
  if (found == metrics_.end()) {
    if (metrics_.size() >= limits_.metric_curves_max) {
      ++left_out_;
      return;
    }
    // The coordinator has few metrics, and each may be as long as the run.
    const std::size_t samples_max = metric.agent_id.empty() && metrics_.size() < kSharesMin
                                        ? limits_.rounds_max
                                        : share_of(limits_.metrics_max, metrics_.size());
    found =
        metrics_.emplace(std::move(key), std::make_unique<MetricCurve>(metric, samples_max)).first;
  }
  MetricCurve& curve = *found->second;
  curve.curve.append(static_cast<double>(metric.round), metric.time_s, metric.value);
  if (!std::isfinite(metric.value)) return;
  curve.last = metric.value;
  curve.lowest = std::fmin(curve.lowest, metric.value);
  curve.highest = std::fmax(curve.highest, metric.value);
  show_metric(curve);
}

// Updates the agent's row. Accuracy has precedence over loss.
void RunView::show_metric(const MetricCurve& metric) {
  AgentRow* const row = metric.agent_id.empty() ? nullptr : row_of(metric.agent_id);
  if (!row) return;
  ++revisions_.agents;
  if (metric.name.ends_with("celsius")) row->temperature_c = metric.last;
  if (metric.name.ends_with("watts")) row->power_w = metric.last;
  const bool better = metric.name == kAccuracyMetric;
  if (!better && (metric.name != kLossMetric || row->metric == kAccuracyMetric)) return;
  row->metric = metric.name;
  row->metric_last = metric.last;
  row->metric_best = metric.best();
}

// The number of samples that the next of these curves may hold.
std::size_t RunView::share_of(std::size_t samples_max, std::size_t curves) const {
  const std::size_t expected = std::max({kSharesMin, curves + 1, agents_.size()});
  return std::max(kShareMin, samples_max / expected);
}

// --- agents ------------------------------------------------------------------------------------

// Rows are never removed, so an index stays valid.
AgentRow* RunView::row_of(std::int64_t number) {
  const auto found = row_by_number_.find(number);
  if (found != row_by_number_.end()) return &agents_[found->second];
  if (agents_.size() >= limits_.agents_max) {
    ++left_out_;
    return nullptr;
  }
  row_by_number_.emplace(number, agents_.size());
  AgentRow& row = agents_.emplace_back();
  row.info.number = number;
  return &row;
}

AgentRow* RunView::row_of(std::string_view agent_id) {
  const auto found = row_by_id_.find(agent_id);
  return found == row_by_id_.end() ? nullptr : &agents_[found->second];
}

void RunView::take(std::vector<AgentInfo>&& agents) {
  for (AgentInfo& info : agents) {
    AgentRow* const row = row_of(info.number);
    if (!row) continue;
    const bool is_new = row->info.agent_id != info.agent_id;
    row->info = std::move(info);
    if (!is_new) continue;
    row_by_id_[row->info.agent_id] = static_cast<std::size_t>(row - agents_.data());
    fill(*row);
  }
  ++revisions_.agents;
}

// Fills in data of an agent that arrived before the file named it.
void RunView::fill(AgentRow& row) {
  const std::string& agent_id = row.info.agent_id;
  for (const auto& [key, metric] : metrics_) {
    if (key.agent_id == agent_id) show_metric(*metric);
  }
  if (const LinkCurves* up = link(agent_id, "")) {
    row.alpha_up_s = up->alpha_last_s;
    row.beta_up_s_per_byte = up->beta_last_s_per_byte;
  }
  if (const LinkCurves* down = link("", agent_id)) {
    row.alpha_down_s = down->alpha_last_s;
    row.beta_down_s_per_byte = down->beta_last_s_per_byte;
  }
}

void RunView::take(const AgentRatio& ratio) {
  if (AgentRow* const row = row_of(ratio.agent_id)) row->ratio = ratio.ratio;
}

// A report tells wait, decode time and bytes of the agent's round before it, which is that of its
// last report. The first report of an agent's process tells neither wait nor bytes.
void RunView::append_round_before(const NewReport& report, AgentCurves& curves) {
  const std::optional<Sample> before = curves.loss->last();
  if (!before || before->x >= static_cast<double>(report.round)) return;
  if (report.wait_s == 0 && report.bytes_up == 0) return;
  curves.wait_s->append({before->x, report.wait_s});
  // Runs of earlier versions do not have it.
  if (std::isfinite(report.decode_s)) curves.decode_s->append({before->x, report.decode_s});
  curves.bytes_up->append({before->x, static_cast<double>(report.bytes_up)});
  curves.bytes_down->append({before->x, static_cast<double>(report.bytes_down)});
}

// Curves are created with the agent's first report in a job.
void RunView::take(const NewReport& report) {
  AgentRow* const row = row_of(report.agent);
  if (!row) return;
  ++row->reports;
  row->last = report;
  if (std::isfinite(report.gain)) row->gain = report.gain;
  const std::pair key(report.job, report.agent);
  auto found = curves_.find(key);
  if (found == curves_.end()) {
    if (curves_.size() >= limits_.agents_max) {
      ++left_out_;
      return;
    }
    const std::size_t samples_max = share_of(limits_.reports_max, curves_.size());
    found = curves_.emplace(key, std::make_unique<AgentCurves>(samples_max)).first;
  }
  AgentCurves& curves = *found->second;
  const auto x = static_cast<double>(report.round);
  append_round_before(report, curves);
  curves.loss->append({x, report.loss});
  curves.compute_s->append({x, report.compute_s});
  curves.encode_s->append({x, report.encode_s});
  // Agents are not always asked for the gain.
  if (std::isfinite(report.gain)) curves.gain->append({x, report.gain});
  curves.residual_norm->append({x, report.residual_norm});
  curves.update_norm->append({x, report.update_norm});
}

// If the clock was set back, the time of the last sample is used, because a series needs ascending
// times.
void RunView::take(const NewLinkSample& sample) {
  std::pair key(sample.from, sample.to);
  auto found = links_.find(key);
  if (found == links_.end()) {
    if (links_.size() >= limits_.links_max) {
      ++left_out_;
      return;
    }
    const std::size_t samples_max = share_of(limits_.link_samples_max, links_.size());
    found = links_.emplace(std::move(key), std::make_unique<LinkCurves>(samples_max)).first;
  }
  LinkCurves& link = *found->second;
  const std::optional<Sample> last = link.alpha_s->last();
  const double x = last ? std::max(last->x, sample.time_s) : sample.time_s;
  link.alpha_s->append({x, sample.alpha_s});
  link.beta_s_per_byte->append({x, sample.beta_s_per_byte});
  if (std::isfinite(sample.alpha_s)) link.alpha_last_s = sample.alpha_s;
  if (std::isfinite(sample.beta_s_per_byte)) link.beta_last_s_per_byte = sample.beta_s_per_byte;
  // A link between agents, or of the coordinator to itself.
  if (sample.from.empty() == sample.to.empty()) return;
  AgentRow* const row = row_of(sample.from.empty() ? sample.to : sample.from);
  if (!row) return;
  const bool up = sample.to.empty();
  (up ? row->alpha_up_s : row->alpha_down_s) = link.alpha_last_s;
  (up ? row->beta_up_s_per_byte : row->beta_down_s_per_byte) = link.beta_last_s_per_byte;
  ++revisions_.agents;
}

void RunView::take(EventRow&& event) {
  events_.push_back(std::move(event));
  if (events_.size() > limits_.events_max) events_.pop_front();
}

// --- queries of pages --------------------------------------------------------------------------

const RoundTable* RunView::rounds(std::uint64_t job) const { return find_in(rounds_, job); }

const MetricCurve* RunView::metric(std::uint64_t job, std::string_view name,
                                   std::string_view agent_id) const {
  return find_in(
      metrics_,
      MetricKey{.job = job, .name = std::string(name), .agent_id = std::string(agent_id)});
}

std::vector<const MetricCurve*> RunView::metrics(std::uint64_t job, std::string_view name) const {
  std::vector<const MetricCurve*> out;
  const MetricKey first = {.job = job, .name = std::string(name), .agent_id = {}};
  for (auto each = metrics_.lower_bound(first);
       each != metrics_.end() && each->first.job == job && each->first.name == name; ++each) {
    out.push_back(each->second.get());
  }
  return out;
}

std::vector<const MetricCurve*> RunView::metrics() const {
  std::vector<const MetricCurve*> out;
  for (const auto& [key, metric] : metrics_) out.push_back(metric.get());
  return out;
}

const AgentRow* RunView::agent(std::string_view agent_id) const {
  const auto found = row_by_id_.find(agent_id);
  return found == row_by_id_.end() ? nullptr : &agents_[found->second];
}

const AgentCurves* RunView::agent_curves(std::uint64_t job, std::string_view agent_id) const {
  const AgentRow* const row = agent(agent_id);
  return row ? find_in(curves_, std::pair(job, row->info.number)) : nullptr;
}

const LinkCurves* RunView::link(std::string_view from, std::string_view to) const {
  return find_in(links_, std::pair(std::string(from), std::string(to)));
}

std::vector<std::pair<std::string, std::string>> RunView::links() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [ends, link] : links_) out.push_back(ends);
  return out;
}

}  // namespace tributary::dashboard
