// The coordinator's jobs, and which of them an agent works for.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/round/coordinator_impl.h"

namespace tributary {

JobRun* Coordinator::Impl::run(std::uint64_t job) const {
  const auto found =
      std::ranges::find_if(runs_, [&](const auto& run) { return run->record().job == job; });
  return found == runs_.end() ? nullptr : found->get();
}

JobRun* Coordinator::Impl::run_at_work() const {
  const auto found = std::ranges::find_if(runs_, [](const auto& run) { return !run->over(); });
  if (found != runs_.end()) return found->get();
  return runs_.empty() ? nullptr : runs_.back().get();
}

// Of those that are over the last is kept, so that its model can be asked for.
Status Coordinator::Impl::restore(CoordinatorState state) {
  for (RestoredJob& job : state.jobs) {
    const bool last = &job == &state.jobs.back();
    const bool over =
        job.job.state == wire::JobState::finished || job.job.state == wire::JobState::stopped;
    if (over && !(last && runs_.empty())) continue;
    TRIBUTARY_ASSIGN(runs_.emplace_back(), JobRun::make(desk_, std::move(job)));
  }
  return {};
}

Result<RestoredJob> Coordinator::Impl::new_job(const SubmitJob& event) {
  TRIBUTARY_TRY(check(event.policy));
  RestoredJob job;
  wire::JobT definition = event.definition;
  if (definition.job == 0) definition.job = desk_.draw();
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

void Coordinator::Impl::on(const SubmitJob& event) {
  Result<RestoredJob> job = new_job(event);
  if (job.ok() && runs_.size() >= kJobsMax) {
    job = Status(StatusCode::resource_exhausted, {.what = "jobs that are not over",
                                                  .expected = fmt::format("{} at most", kJobsMax),
                                                  .got = "one more",
                                                  .remedy = "stop one"});
  }
  if (!job.ok()) {
    desk_.out.emplace_back(CommandDone{.command = event.command, .status = job.status()});
    return;
  }
  NewJobRecord record{.job = job->job, .checkpoint = job->checkpoint};
  desk_.store.push(std::move(record), [this, command = event.command, job = std::move(*job)] {
    desk_.out.emplace_back(CommandDone{.command = command, .status = {}, .job = job.job.job});
    Result<std::unique_ptr<JobRun>> run = JobRun::make(desk_, job);
    if (run.ok()) {
      runs_.push_back(std::move(*run));
    } else {
      desk_.note(LogLevel::error, "job_failed", name(run.status().code()), {}, run.status().text());
    }
  });
}

// An agent works for the first job that is not over and that wants it. Where there is none it stays
// with what it had, or gets the last job's model.
JobRun* Coordinator::Impl::choose_run(const AgentSession& session) const {
  JobRun* chosen = run_of(session);
  for (const auto& run : runs_) {
    if (!run->wants(session.agent_id)) continue;
    if (!run->over()) return run.get();
    if (session.run == 0) chosen = run.get();
  }
  return chosen;
}

void Coordinator::Impl::share_out_agents() {
  for (const auto& [number, session] : desk_.roster.all()) {
    if (session->leaving) continue;
    JobRun* run = choose_run(*session);
    if (!run || run->record().job == session->run) continue;
    if (JobRun* before = run_of(*session)) before->left(*session);
    session->run = run->record().job;
    session->job = 0;
    session->synced = false;
    session->transfer = 0;
    session->transfer_waits = false;
    session->transfer_wanted = false;
    session->commit_sent = 0;
    session->undecided.clear();
    run->joined(*session, 0);
  }
  drop_runs();
}

// Those that are over and that nobody is with any more; the last of all stays.
void Coordinator::Impl::drop_runs() {
  for (std::size_t i = 0; i + 1 < runs_.size();) {
    const JobRun& run = *runs_[i];
    const bool in_use = std::ranges::any_of(
        desk_.roster.all(), [&](const auto& item) { return item.second->run == run.record().job; });
    if (!run.over() || in_use) {
      ++i;
      continue;
    }
    done_.push_back(run.view());
    if (done_.size() > kJobsMax) done_.erase(done_.begin());
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Coordinator::Impl::on(const ChangeJob& event) {
  JobRun* const changed = run(event.job);
  const bool known = changed && !changed->over();
  const bool allowed = event.state == wire::JobState::running ||
                       event.state == wire::JobState::paused ||
                       event.state == wire::JobState::stopped;
  if (!known || !allowed) {
    desk_.out.emplace_back(
        CommandDone{.command = event.command,
                    .status = Status(known ? StatusCode::invalid_argument : StatusCode::not_found,
                                     {.what = fmt::format("job {}", event.job),
                                      .expected = "one that is not over, to run, pause or stop",
                                      .got = wire::EnumNameJobState(event.state),
                                      .remedy = "list the jobs"}),
                    .job = event.job});
    return;
  }
  changed->change(event.state, event.reason, [this, command = event.command, job = event.job] {
    desk_.out.emplace_back(CommandDone{.command = command, .status = {}, .job = job});
  });
}

void Coordinator::Impl::on(const Shutdown& event) {
  shutting_down_ = true;
  for (const auto& [number, session] : desk_.roster.all()) {
    session->conversation.ask(
        desk_.now,
        [reason = event.reason] {
          wire::LeaveT leave;
          leave.reason = wire::LeaveReason::shutdown;
          leave.text = reason.substr(0, wire::kTextBytesMax);
          return frame_with(std::move(leave));
        },
        desk_.out);
  }
}

}  // namespace tributary
