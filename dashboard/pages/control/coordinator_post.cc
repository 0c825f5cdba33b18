#include "dashboard/pages/control/coordinator_post.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/service/operator_messages.h"
#include "dashboard/pages/common/texts.h"
#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

using OperatorJson = nlohmann::ordered_json;

// Limit for the selection box.
constexpr int kAgentsListedMax = 4096;

Result<OperatorJson> content_of(const OperatorAnswer& answer) {
  if (!answer.status.ok()) return answer.status;
  return read_operator_answer(answer.text);
}

// The agents that the coordinator allows, connected or not. A coordinator of an earlier release
// names only the connected ones.
QStringList agents_in(const OperatorJson& data) {
  QStringList ids;
  if (!data.is_object()) return ids;
  const auto add = [&ids](const OperatorJson& id) {
    if (id.is_string() && ids.size() < kAgentsListedMax) {
      ids.push_back(whole_text(id.get_ref<const std::string&>()));
    }
  };
  for (const OperatorJson& id : data.value("allowed", OperatorJson::array())) add(id);
  for (const OperatorJson& agent : data.value("agents", OperatorJson::array())) {
    if (agent.is_object()) add(agent.value("agent_id", OperatorJson()));
  }
  return ids;
}

// Formats the job number of an answer as " (job 7)".
QString data_text(const OperatorJson& data) {
  const auto job = data.is_object() ? data.find("job") : data.end();
  const bool numbered = job != data.end() && job->is_number_unsigned();
  return numbered ? QString(" (job %1)").arg(job->get<std::uint64_t>()) : QString();
}

}  // namespace

CoordinatorPost::CoordinatorPost(QObject* parent) : QObject(parent) {
  timer_.setInterval(kLookEveryMs);
  connect(&timer_, &QTimer::timeout, this, &CoordinatorPost::look);
}

void CoordinatorPost::set_run(RunSession* run) {
  if (run_ == run) return;
  if (run_) run_->disconnect(this);
  run_ = run;
  look_ = 0;
  asked_.clear();
  known_ = false;
  presence_ = {};
  agents_.clear();
  if (run_) connect(run_, &RunSession::operator_answered, this, &CoordinatorPost::take);
  emit changed();
  if (awake_) look();
}

void CoordinatorPost::set_awake(bool awake) {
  if (awake == awake_) return;
  awake_ = awake;
  awake_ ? timer_.start() : timer_.stop();
  if (awake_) look();
}

// One check at a time: a coordinator that does not answer must not collect questions.
void CoordinatorPost::look() {
  if (run_ && look_ == 0) look_ = run_->ask_operator(list_question());
}

void CoordinatorPost::ask(const ControlRequest& request) {
  if (!run_) return;
  asked_[run_->ask_operator(request.question)] = request.what;
  emit changed();
}

void CoordinatorPost::take(const OperatorAnswer& answer) {
  // The check shares the connection with the requests and is recognized by its number.
  if (answer.number == look_) {
    look_ = 0;
    take_look(answer);
    return;
  }
  const auto found = asked_.find(answer.number);
  if (found == asked_.end()) return;
  const QString what = std::move(found->second);
  asked_.erase(found);
  const Result<OperatorJson> content = content_of(answer);
  if (content.ok()) {
    emit answered(what + ": done" + data_text(*content), false);
  } else {
    emit answered(what + ": " + plain_text(content.status().text()), true);
  }
  emit changed();
  look();
}

void CoordinatorPost::take_look(const OperatorAnswer& answer) {
  const Result<OperatorJson> content = content_of(answer);
  if (content.ok()) {
    note({}, agents_in(*content));
  } else {
    // The last known agents are kept while the coordinator does not answer.
    note(content.status(), agents_);
  }
}

void CoordinatorPost::note(const Status& presence, QStringList agents) {
  const bool same = known_ && presence.text() == presence_.text() && agents == agents_;
  known_ = true;
  // A refused key appears in the coordinator's log at every check, so the checks become rarer.
  const bool seldom = presence.code() == StatusCode::permission_denied;
  const int every_ms = seldom ? kLookSeldomMs : kLookEveryMs;
  if (timer_.interval() != every_ms) timer_.setInterval(every_ms);
  presence_ = presence;
  agents_ = std::move(agents);
  if (!same) emit changed();
}

QString CoordinatorPost::presence() const {
  if (!run_) {
    return kNoRunOpen;
  }
  if (!known_) return "Connecting to the coordinator of " + run_->name() + "…";
  if (presence_.ok()) {
    return "✓ The coordinator of " + run_->name() + " is connected and accepts commands.";
  }
  const QString why = plain_text(presence_.text());
  if (presence_.code() == StatusCode::permission_denied && run_->trouble().ok()) {
    return "⚠ This key may watch the run but not change it. " + why;
  }
  const QString remedy =
      run_->origin().across_network
          ? "Retrying automatically."
          : "Its socket only accepts the local user that runs the coordinator: start it on this "
            "machine, or connect to it with Ctrl+Shift+O.";
  return "⚠ No coordinator answers for " + run_->name() + "; commands are disabled. " + remedy +
         "\n" + why;
}

}  // namespace tributary::dashboard
