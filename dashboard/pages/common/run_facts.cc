#include "dashboard/pages/common/run_facts.h"

#include <algorithm>
#include <cmath>

namespace tributary::dashboard {
namespace {

// An agent counts for the job that it serves and for every job that it has reported to. The second
// rule is for runs of earlier coordinators, which recorded the served job only when the agent left.
void count_agents(const RunView& view, JobFacts& facts) {
  for (const AgentRow& row : view.agents()) {
    const bool assigned = row.info.job == facts.job;
    if (!assigned && !view.agent_curves(facts.job, row.info.agent_id)) continue;
    ++facts.agents;
    if (row.info.connected && (assigned || row.info.job == 0)) ++facts.agents_up;
  }
}

// Readings of the coordinator; agents have their own.
void add_metrics(const RunView& view, JobFacts& facts) {
  if (const MetricCurve* accuracy = view.metric(facts.job, kAccuracyMetric, "")) {
    facts.accuracy_last = accuracy->last;
    facts.accuracy_best = accuracy->best();
  }
  if (const MetricCurve* loss = view.metric(facts.job, kLossMetric, "")) {
    facts.loss_last = loss->last;
  }
}

std::string with_reason(const std::string& text, const std::string& reason) {
  return reason.empty() ? text : text + ": " + reason;
}

}  // namespace

double JobFacts::saved_share() const { return dense() > 0 ? 1 - bytes() / dense() : kUnknown; }

JobFacts facts_of(const RunView& view, const JobInfo& job) {
  JobFacts facts = {.job = job.job,
                    .name = job.name.empty() ? "job with an unreadable definition" : job.name,
                    .state = job.state,
                    .reason = job.reason,
                    .rounds_configured = job.rounds_configured};
  if (const RoundTable* rounds = view.rounds(job.job); rounds && rounds->size() > 0) {
    facts.rounds_done = rounds->columns.round.back();
    facts.bytes_up = rounds->sums.bytes_up;
    facts.bytes_down = rounds->sums.bytes_down;
    facts.dense_up = rounds->sums.dense_up;
    facts.dense_down = rounds->sums.dense_down;
  }
  count_agents(view, facts);
  add_metrics(view, facts);
  return facts;
}

// The newest job first.
std::vector<JobFacts> facts_of_jobs(const RunView& view) {
  std::vector<JobFacts> all;
  for (auto job = view.jobs().rbegin(); job != view.jobs().rend(); ++job) {
    all.push_back(facts_of(view, *job));
  }
  return all;
}

std::string state_text(wire::JobState state) {
  // A newer build may have stored a state that this build does not know; its name is then empty.
  const char* const name = wire::EnumNameJobState(state);
  return *name == '\0' || state == wire::JobState::unspecified ? "unknown" : name;
}

bool has_ended(wire::JobState state) {
  return state == wire::JobState::finished || state == wire::JobState::stopped;
}

double newest_moment(const RunView& view) {
  double newest = kUnknown;
  for (const JobInfo& job : view.jobs()) {
    const RoundTable* const rounds = view.rounds(job.job);
    if (rounds && rounds->size() > 0) newest = std::fmax(newest, rounds->columns.ended_s.back());
  }
  if (!view.events().empty()) newest = std::fmax(newest, view.events().back().time_s);
  return newest;
}

// The current error of the run first, then stopped jobs, then recent events from the newest on.
std::vector<Alert> alerts_of(const RunView& view, const Status& trouble,
                             const AlertLimits& limits) {
  std::vector<Alert> alerts;
  if (!trouble.ok()) alerts.push_back({.error = true, .text = trouble.text()});
  if (!view.file_warning().empty()) alerts.push_back({.text = view.file_warning()});
  for (const JobInfo& job : view.jobs()) {
    if (job.state != wire::JobState::stopped || job.reason.empty()) continue;
    alerts.push_back({.text = "job " + job.name + " was stopped: " + job.reason});
  }
  // Counted from the run's own newest moment, so that a recorded run shows its last alerts.
  const double since_s = newest_moment(view) - limits.seconds;
  for (auto event = view.events().rbegin(); event != view.events().rend(); ++event) {
    if (alerts.size() >= limits.alerts_max || event->time_s < since_s) break;
    if (event->level < LogLevel::warning) continue;
    std::string text = event->name;
    if (!event->source.empty()) text += " (" + event->source + ")";
    alerts.push_back({.time_s = event->time_s,
                      .error = event->level >= LogLevel::error,
                      .text = with_reason(text, event->text)});
  }
  return alerts;
}

}  // namespace tributary::dashboard
