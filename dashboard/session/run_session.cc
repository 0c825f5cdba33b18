#include "dashboard/session/run_session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "dashboard/session/run_session_reader.h"

namespace tributary::dashboard {
namespace {

// At most 30 updates per second, because a file may change much more often.
constexpr int kReportEveryMs = 33;

}  // namespace

RunSession::RunSession(const RunSessionOptions& options, QObject* parent)
    : QObject(parent),
      view_(std::make_unique<RunView>(options.limits)),
      origin_(options.origin),
      name_(options.origin.name) {
  change_timer_.setSingleShot(true);
  change_timer_.setInterval(kReportEveryMs);
  connect(&change_timer_, &QTimer::timeout, this, &RunSession::changed);
  // Qt drops queued calls to a session that has been destroyed.
  reader_ = std::make_unique<RunSessionReader>(options, [this] {
    QMetaObject::invokeMethod(
        this, [this] { take_portion(); }, Qt::QueuedConnection);
  });
  operator_channel_ = std::make_unique<OperatorChannel>(origin_.make, [this] {
    QMetaObject::invokeMethod(
        this, [this] { take_answers(); }, Qt::QueuedConnection);
  });
}

RunSession::~RunSession() {
  // Both threads call back into this object, so they are stopped before its members are destroyed.
  operator_channel_.reset();
  reader_.reset();
}

void RunSession::set_name(const QString& name) {
  if (name == name_) return;
  name_ = name;
  report_change();
}

std::uint64_t RunSession::job() const {
  const JobInfo* const info = job_info();
  return info ? info->job : 0;
}

// The chosen job, or the newest one if none was chosen or the chosen one is unknown.
const JobInfo* RunSession::job_info() const {
  const std::vector<JobInfo>& jobs = view_->jobs();
  if (jobs.empty()) return nullptr;
  const auto chosen = std::ranges::find(jobs, chosen_job_, &JobInfo::job);
  return chosen == jobs.end() ? &jobs.back() : &*chosen;
}

void RunSession::choose_job(std::uint64_t job) {
  if (job == chosen_job_) return;
  chosen_job_ = job;
  report_change();
}

void RunSession::ask_round(std::uint64_t job, std::uint64_t round) {
  reader_->ask_round(job, round);
}

std::uint64_t RunSession::ask_operator(std::string question) {
  operator_channel_->ask(++questions_, std::move(question));
  return questions_;
}

void RunSession::take_answers() {
  for (const OperatorAnswer& answer : operator_channel_->take()) emit operator_answered(answer);
}

// Runs on the GUI thread, for each portion that the reader's thread has handed over.
void RunSession::take_portion() {
  std::optional<RunPortion> portion = reader_->take();
  if (!portion) return;
  const bool news = !portion->changes.empty() || (portion->at_end && !caught_up_);
  if (portion->changes.begins_anew) caught_up_ = false;
  view_->apply(std::move(portion->changes));
  caught_up_ = caught_up_ || portion->at_end;
  if (news) report_change();
  note_trouble(portion->trouble);
  if (!portion->answer) return;
  if (portion->answer->detail) {
    if (portion->answer->belief) emit belief_read(portion->answer->belief);
    emit round_read(portion->answer->detail);
  } else {
    emit round_not_read(portion->answer->round,
                        QString::fromStdString(portion->answer->why_not.text()));
  }
}

void RunSession::note_trouble(const Status& trouble) {
  if (trouble.ok() && trouble_.ok()) return;
  // A repeated failure is reported once.
  if (!trouble.ok() && !trouble_.ok() && trouble.text() == trouble_.text()) return;
  trouble_ = trouble;
  emit trouble_changed();
}

// The timer is not restarted, so a run that changes all the time is still reported.
void RunSession::report_change() {
  if (!change_timer_.isActive()) change_timer_.start();
}

}  // namespace tributary::dashboard
