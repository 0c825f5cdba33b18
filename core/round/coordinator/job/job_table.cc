#include "core/round/coordinator/job/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

bool accepts(const RoundPolicy& policy, const std::string& agent_id) {
  return policy.agents.empty() || std::ranges::find(policy.agents, agent_id) != policy.agents.end();
}

// Each job holds at least one model in memory.
constexpr std::size_t kJobsMax = 64;

}  // namespace

JobRun* JobTable::run(std::uint64_t job) const {
  const auto found =
      std::ranges::find_if(runs_, [&](const auto& run) { return run->record().job == job; });
  return found == runs_.end() ? nullptr : found->get();
}

// The first unfinished job in the order of submission; without one, the last job.
JobRun* JobTable::run_at_work() const {
  const auto found = std::ranges::find_if(runs_, [](const auto& run) { return !run->over(); });
  if (found != runs_.end()) return found->get();
  return runs_.empty() ? nullptr : runs_.back().get();
}

// Restores the jobs that are not over. If all are over, the last one is restored, so that its model
// is available.
Status JobTable::restore(CoordinatorState state) {
  for (RestoredJob& job : state.jobs) {
    const bool last = &job == &state.jobs.back();
    const bool over =
        job.job.state == wire::JobState::finished || job.job.state == wire::JobState::stopped;
    if (over && !(last && runs_.empty())) continue;
    TRIBUTARY_ASSIGN(runs_.emplace_back(), JobRun::make(context_, std::move(job)));
  }
  return {};
}

// A submitted job takes the same form as one that a journal restores, so that both begin through
// JobRun::make().
Result<RestoredJob> JobTable::new_job(const SubmitJob& event) {
  TRIBUTARY_TRY(check(event.policy));
  RestoredJob job;
  wire::JobT definition = event.definition;
  if (definition.job == 0) definition.job = context_.draw();
  if (definition.revision == 0) definition.revision = 1;
  definition.state = wire::JobState::running;
  TRIBUTARY_ASSIGN(job.job.definition, keep_message(definition));
  job.job.job = definition.job;
  job.job.revision = definition.revision;
  job.job.state = wire::JobState::running;
  job.job.policy = event.policy;
  TRIBUTARY_ASSIGN(const auto model, JobModel::make(job.job.definition));
  if (!event.model || event.model->size() != model->values()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "model of a job",
                   .expected = fmt::format("{} values, as in its layer map", model->values()),
                   .got = fmt::format("{}", event.model ? event.model->size() : 0),
                   .remedy = "submit the model that belongs to the layer map"});
  }
  TRIBUTARY_ASSIGN(const auto rule, make_model_rule(model->wire()));
  job.checkpoint = {.job = definition.job,
                    .model_version = 0,
                    .model_hash = model_hash_of(*event.model),
                    .model = event.model,
                    .rule_state = rule->save()};
  return job;
}

void JobTable::submit(const SubmitJob& event) {
  Result<RestoredJob> job = new_job(event);
  if (job.ok() && runs_.size() >= kJobsMax) {
    job = Status(StatusCode::resource_exhausted, {.what = "unfinished jobs",
                                                  .expected = fmt::format("{} at most", kJobsMax),
                                                  .got = "one more",
                                                  .remedy = "stop one"});
  }
  if (!job.ok()) {
    context_.out.emplace_back(CommandDone{.command = event.command, .status = job.status()});
    return;
  }
  // The submission is confirmed after it is stored: a job that an operator was told about survives
  // a crash.
  NewJobRecord record{.job = job->job, .checkpoint = job->checkpoint};
  context_.store.push(std::move(record), [this, command = event.command, job = std::move(*job)] {
    context_.out.emplace_back(CommandDone{.command = command, .status = {}, .job = job.job.job});
    Result<std::unique_ptr<JobRun>> run = JobRun::make(context_, job);
    if (run.ok()) {
      runs_.push_back(std::move(*run));
    } else {
      context_.note(LogLevel::error, "job_failed", name(run.status().code()), {},
                    run.status().text());
    }
  });
}

// The first unfinished job that accepts the agent. An agent without one keeps its job, so that it
// can still get the final model.
JobRun* JobTable::choose_run(const AgentSession& session) const {
  if (session.is_aggregator()) return nullptr;
  JobRun* chosen = run_of(session);
  for (const auto& run : runs_) {
    if (!accepts(run->record().policy, session.agent_id)) continue;
    if (!run->over()) return run.get();
    if (session.run == 0) chosen = run.get();
  }
  return chosen;
}

void JobTable::aggregator_changed(const AgentSession& session) {
  for (const auto& run : runs_) run->aggregator_changed(session);
}

// Agents change their job only when a job begins or ends. The comparison makes this a constant-time
// check on all other events.
void JobTable::share_out_agents() {
  const OpenRuns now = open_runs();
  if (now == shared_out_) return;
  for (const auto& [number, session] : context_.roster.all()) {
    if (session->leaving) continue;
    JobRun* run = choose_run(*session);
    if (!run || run->record().job == session->run) continue;
    if (JobRun* before = run_of(*session)) before->left(*session);
    session->run = run->record().job;
    session->job = 0;
    session->synced = false;
    session->transfer = 0;
    session->transfer_waits = false;
    session->transfer_requested = false;
    session->commit_sent = 0;
    session->undecided.clear();
    run->joined(*session, 0);
  }
  shared_out_ = open_runs();
}

JobTable::OpenRuns JobTable::open_runs() const {
  const auto open = std::ranges::count_if(runs_, [](const auto& run) { return !run->over(); });
  return {.runs = runs_.size(), .open = static_cast<std::size_t>(open)};
}

// The last job always stays, so that its model is available.
void JobTable::drop_runs() {
  // A finished job stays while an agent is assigned to it, since it may still have to send that
  // agent the last model.
  for (std::size_t i = 0; i + 1 < runs_.size();) {
    const JobRun& run = *runs_[i];
    const auto in_use = [&] {
      return std::ranges::any_of(context_.roster.all(), [&](const auto& item) {
        return item.second->run == run.record().job;
      });
    };
    if (!run.over() || in_use()) {
      ++i;
      continue;
    }
    done_.push_back(run.view());
    if (done_.size() > kJobsMax) done_.erase(done_.begin());
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void JobTable::change(const ChangeJob& event) {
  JobRun* const changed = run(event.job);
  const bool known = changed && !changed->over();
  const bool allowed = event.state == wire::JobState::running ||
                       event.state == wire::JobState::paused ||
                       event.state == wire::JobState::stopped;
  if (!known || !allowed) {
    context_.out.emplace_back(
        CommandDone{.command = event.command,
                    .status = Status(known ? StatusCode::invalid_argument : StatusCode::not_found,
                                     {.what = fmt::format("job {}", event.job),
                                      .expected = "an unfinished job to resume, pause or stop",
                                      .got = wire::EnumNameJobState(event.state),
                                      .remedy = "list the jobs with 'tributary job list'"}),
                    .job = event.job});
    return;
  }
  changed->change(event.state, event.reason, [this, command = event.command, job = event.job] {
    context_.out.emplace_back(CommandDone{.command = command, .status = {}, .job = job});
  });
}

bool JobTable::ready(const AgentSession& session) const {
  const JobRun* const run = run_of(session);
  return run && session.ready(session.run, run->committed().version());
}

std::vector<JobView> JobTable::views() const {
  std::vector<JobView> views = done_;
  for (const auto& run : runs_) views.push_back(run->view());
  return views;
}

void JobTable::tick() {
  for (const auto& run : runs_) run->tick();
  share_out_agents();
  drop_runs();
}

void JobTable::loaded(const RoundLoaded& event) {
  for (const auto& run : runs_) run->loaded(event);
}

TimeNs JobTable::next_due_ns() const {
  TimeNs due = kNever;
  for (const auto& run : runs_) due = std::min(due, run->next_due_ns());
  return due;
}

std::uint64_t JobTable::incoming_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& run : runs_) bytes += run->incoming_bytes();
  return bytes;
}

std::uint64_t JobTable::buffered_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& run : runs_) bytes += run->buffered_bytes();
  return bytes;
}

}  // namespace tributary
