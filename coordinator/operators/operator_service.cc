#include "coordinator/operators/operator_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/job/job_rules.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// Limit of the wait for an answer: longer than a full disk takes to be reported, shorter than an
// operator's patience.
constexpr std::chrono::seconds kOperatorPatience{20};

std::string ok_text(Json data) { return Json{{"status", "ok"}, {"data", std::move(data)}}.dump(); }

// Names come from operators and files. Bytes that are no UTF-8 are replaced, because every answer
// must be valid JSON.
std::string error_text(const Status& status) {
  const Fault& fault = status.fault();
  return Json{{"status", "error"},
              {"error",
               {{"code", name(status.code())},
                {"what", fault.what},
                {"expected", fault.expected},
                {"got", fault.got},
                {"remedy", fault.remedy}}}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const Coordinator::JobView& job) {
  return {{"name", job.name},
          {"job", job.job},
          {"state", wire::EnumNameJobState(job.state)},
          {"rounds", job.rounds},
          {"rounds_committed", job.rounds_committed}};
}

Json json_of(const Coordinator::AgentView& agent) {
  return {{"agent_id", agent.agent_id},
          {"job", agent.job},
          {"ready", agent.ready},
          {"model_version", agent.model_version}};
}

Json json_of(const std::vector<Holding>& holdings) {
  Json items = Json::array();
  for (const Holding& holding : holdings) {
    if (holding.bytes > 0) items.push_back({{"what", holding.what}, {"bytes", holding.bytes}});
  }
  return items;
}

Json json_of(const JobMemory& memory) {
  return {{"coordinator_bytes", total_bytes(memory.coordinator)},
          {"agent_bytes", total_bytes(memory.agent)},
          {"coordinator", json_of(memory.coordinator)},
          {"agent", json_of(memory.agent)}};
}

// A job in one of these states never changes again, and its name is free.
bool over(const Coordinator::JobView& job) {
  return job.state == wire::JobState::finished || job.state == wire::JobState::stopped;
}

}  // namespace

std::string OperatorService::answer(std::string_view text) {
  Result<ControlQuestion> question = read_control_question(text);
  if (!question.ok()) return error_text(question.status());
  if (question->verb == ControlVerb::allow || question->verb == ControlVerb::revoke) {
    return change_agents(*question);
  }
  const auto pending = std::make_shared<Pending>();
  pending->question = std::move(*question);
  if (pending->question.settings) {
    Result<SubmitJob> submit = submission(*pending->question.settings);
    if (!submit.ok()) return error_text(submit.status());
    // Without a layer map there is no estimate; the machine refuses such a job.
    if (Result<JobMemory> memory = memory_of(*submit, limits_); memory.ok()) {
      pending->memory = std::move(*memory);
    }
    pending->submit = std::move(*submit);
  }
  std::unique_lock lock(mutex_);
  if (!closed_) asked_.push_back(pending);
  changed_.wait_for(lock, kOperatorPatience, [&] { return pending->answer || closed_; });
  if (pending->answer) return *pending->answer;
  // If the loop has taken the command meanwhile, it is still executed, and resolve() writes an
  // answer that is not read. Otherwise it is withdrawn here.
  std::erase(asked_, pending);
  return error_text(
      Status(StatusCode::unavailable,
             {.what = "the coordinator",
              .expected = fmt::format("an answer within {} s", kOperatorPatience.count()),
              .got = closed_ ? "it is stopping" : "it is busy, or its disk is full",
              .remedy = "list the jobs to see whether the command took effect"}));
}

// The state machine is not involved: the link drops messages of a key that is not allowed.
std::string OperatorService::change_agents(const ControlQuestion& question) const {
  const Status changed = question.verb == ControlVerb::allow ? agents_.allow(question.agent)
                                                             : agents_.revoke(question.agent.id);
  return changed.ok() ? ok_text({{"agent", question.agent.id}}) : error_text(changed);
}

void OperatorService::resolve(Pending& pending, std::string answer) {
  const std::lock_guard lock(mutex_);
  pending.answer = std::move(answer);
  changed_.notify_all();
}

void OperatorService::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::string OperatorService::list() const {
  Json jobs = Json::array();
  for (const Coordinator::JobView& job : machine_.jobs()) jobs.push_back(json_of(job));
  Json agents = Json::array();
  for (const Coordinator::AgentView& agent : machine_.agents()) agents.push_back(json_of(agent));
  return ok_text(
      {{"jobs", std::move(jobs)}, {"agents", std::move(agents)}, {"allowed", agents_.ids()}});
}

// Several jobs may have had the same name. Returns the one that is not over, otherwise the last
// one.
Result<std::uint64_t> OperatorService::number_of(const std::string& job) const {
  std::optional<std::uint64_t> found;
  for (const Coordinator::JobView& view : machine_.jobs()) {
    if (view.name != job && fmt::format("{}", view.job) != job) continue;
    found = view.job;
    if (!over(view)) break;
  }
  if (found) return *found;
  return Status(StatusCode::not_found, {.what = fmt::format("job '{}'", job),
                                        .expected = "the name or number of a known job",
                                        .got = "no job with this name",
                                        .remedy = "list the jobs with 'tributary job list'"});
}

Result<Event> OperatorService::command(Pending& pending) {
  const ControlQuestion& question = pending.question;
  if (question.verb == ControlVerb::change) {
    TRIBUTARY_ASSIGN(const std::uint64_t job, number_of(question.job));
    return Event(ChangeJob{.command = next_command_,
                           .job = job,
                           .state = question.state,
                           .reason = question.reason.empty() ? "by an operator" : question.reason});
  }
  for (const Coordinator::JobView& view : machine_.jobs()) {
    if (view.name != question.job || over(view)) continue;
    return Status(StatusCode::already_exists,
                  {.what = fmt::format("job '{}'", question.job),
                   .expected = "a name that no unfinished job has",
                   .got = fmt::format("the name of job {}, which is not finished", view.job),
                   .remedy = "stop that job first, or choose another name"});
  }
  pending.submit.command = next_command_;
  return Event(std::move(pending.submit));
}

std::vector<Event> OperatorService::take() {
  std::deque<std::shared_ptr<Pending>> asked;
  {
    const std::lock_guard lock(mutex_);
    // The commands are answered without the lock, because resolve() takes it.
    asked.swap(asked_);
  }
  std::vector<Event> events;
  for (const auto& pending : asked) {
    if (pending->question.verb == ControlVerb::list) {
      resolve(*pending, list());
      continue;
    }
    Result<Event> event = command(*pending);
    if (!event.ok()) {
      resolve(*pending, error_text(event.status()));
      continue;
    }
    // Only commands that reach the state machine use up a number.
    commands_[next_command_++] = pending;
    events.push_back(std::move(*event));
  }
  return events;
}

bool OperatorService::done(const CommandDone& done) {
  const auto found = commands_.find(done.command);
  if (found == commands_.end()) return false;
  const std::shared_ptr<Pending> pending = std::move(found->second);
  commands_.erase(found);
  if (!done.status.ok()) {
    resolve(*pending, error_text(done.status));
    return true;
  }
  Json data = {{"job", done.job}};
  if (pending->question.settings) data["warnings"] = job_warnings(*pending->question.settings);
  if (pending->memory) data["memory"] = json_of(*pending->memory);
  resolve(*pending, ok_text(std::move(data)));
  return true;
}

}  // namespace tributary
