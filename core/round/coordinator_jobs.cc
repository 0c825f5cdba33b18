// The coordinator's jobs: one at work, the others behind it.
#include <fmt/format.h>

#include <utility>

#include "core/round/coordinator_impl.h"

namespace tributary {

Status Coordinator::Impl::restore(CoordinatorState state) {
  for (RestoredJob& job : state.jobs) waiting_.push_back(std::move(job));
  if (waiting_.empty()) return {};
  // The first that is not over is at work; if all are, the last is, so that its model can be asked
  // for.
  while (waiting_.size() > 1 && (waiting_.front().job.state == wire::JobState::finished ||
                                 waiting_.front().job.state == wire::JobState::stopped)) {
    waiting_.pop_front();
  }
  TRIBUTARY_ASSIGN(run_, JobRun::make(desk_, std::move(waiting_.front())));
  waiting_.pop_front();
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
  if (job.ok() && waiting_.size() >= kJobsWaitingMax) {
    job = Status(StatusCode::resource_exhausted, {.what = "jobs that wait",
                                                  .expected = fmt::format("{}", kJobsWaitingMax),
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
    waiting_.push_back(job);
    run_next_job();
  });
}

void Coordinator::Impl::run_next_job() {
  while (!waiting_.empty() && (!run_ || run_->over())) {
    Result<std::unique_ptr<JobRun>> run = JobRun::make(desk_, std::move(waiting_.front()));
    waiting_.pop_front();
    if (!run.ok()) {
      desk_.note(LogLevel::error, "job_failed", name(run.status().code()), {}, run.status().text());
      continue;
    }
    if (run_) {
      done_.push_back({.job = run_->record().job,
                       .name = run_->model_of_job().wire().name()->str(),
                       .state = run_->record().state,
                       .rounds = run_->model_of_job().wire().rounds(),
                       .rounds_committed = run_->version()});
      if (done_.size() > kJobsWaitingMax) done_.erase(done_.begin());
    }
    run_ = std::move(*run);
    for (const auto& [number, session] : desk_.roster.all()) {
      session->job = 0;
      session->synced = false;
      session->transfer = 0;
      session->transfer_waits = false;
      session->transfer_wanted = false;
      session->commit_sent = 0;
      session->undecided.clear();
      session->holdings.clear();
      run_->joined(*session, 0);
    }
  }
}

void Coordinator::Impl::on(const ChangeJob& event) {
  const bool known = run_ && run_->record().job == event.job && !run_->over();
  const bool allowed = event.state == wire::JobState::running ||
                       event.state == wire::JobState::paused ||
                       event.state == wire::JobState::stopped;
  if (!known || !allowed) {
    desk_.out.emplace_back(
        CommandDone{.command = event.command,
                    .status = Status(known ? StatusCode::invalid_argument : StatusCode::not_found,
                                     {.what = fmt::format("job {}", event.job),
                                      .expected = "the job at work, to run, pause or stop",
                                      .got = wire::EnumNameJobState(event.state),
                                      .remedy = "list the jobs"}),
                    .job = event.job});
    return;
  }
  run_->change(event.state, event.reason, [this, command = event.command, job = event.job] {
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
