// An open run. A thread of its own follows the file or the coordinator; the values that the pages
// show are kept here, in the GUI thread.
//
// The thread hands over one portion of changes at a time and continues when it has been taken. A
// large file therefore cannot flood a busy window, and memory stays bounded. All members belong to
// the GUI thread.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/status.h"
#include "core/run/round_detail.h"
#include "core/run/view/run_view.h"
#include "dashboard/session/decision_belief.h"
#include "dashboard/session/operator_channel.h"
#include "dashboard/session/run_origin.h"

namespace tributary::dashboard {

class RunSessionReader;

struct RunSessionOptions {
  RunOrigin origin = {};
  RunLimits limits = {};
  // Poll interval of a run without new data.
  std::chrono::milliseconds look_every{200};
};

class RunSession : public QObject {
  Q_OBJECT

 public:
  explicit RunSession(const RunSessionOptions& options, QObject* parent = nullptr);
  ~RunSession() override;

  const RunView& view() const { return *view_; }
  const RunOrigin& origin() const { return origin_; }
  // The name for legends and titles: that of the origin, unless set_name() changed it.
  QString name() const { return name_; }
  void set_name(const QString& name);
  // Identifies the run; its colour in all charts depends on it.
  QString key() const { return origin_.key; }

  // Returns the selected job: the chosen one, otherwise the one submitted last; 0 without jobs.
  std::uint64_t job() const;
  const JobInfo* job_info() const;  // of job(); null without jobs
  void choose_job(std::uint64_t job);

  // Ok while the run can be read. Reading is retried automatically.
  const Status& trouble() const { return trouble_; }
  // Whether everything that existed when the run was opened has been read.
  bool caught_up() const { return caught_up_; }

  // Requests the details of a round. The answer is round_read or round_not_read. A newer request
  // replaces one that is still waiting.
  void ask_round(std::uint64_t job, std::uint64_t round);
  // Sends a request to the coordinator (core/service/operator_messages.h) and returns its number.
  // Every request is answered by operator_answered with this number.
  std::uint64_t ask_operator(std::string question);

 signals:
  void changed();          // view() or name has changed; at most 30 times per second
  void trouble_changed();  // a problem appeared, changed or ended
  // Details of a round requested by ask_round(); every page receives them.
  void round_read(std::shared_ptr<const RoundDetail> detail);
  // Comes before round_read, if the round has a decision.
  void belief_read(std::shared_ptr<const DecisionBelief> belief);
  void round_not_read(std::uint64_t round, const QString& why);
  void operator_answered(const tributary::dashboard::OperatorAnswer& answer);

 private:
  // Runs in the GUI thread after the reader has announced a portion.
  void take_portion();
  void take_answers();
  void note_trouble(const Status& trouble);
  void report_change();

  std::unique_ptr<RunView> view_;
  RunOrigin origin_;
  QString name_;
  std::uint64_t chosen_job_ = 0;
  Status trouble_;
  bool caught_up_ = false;
  QTimer change_timer_;
  std::unique_ptr<RunSessionReader> reader_;
  std::uint64_t questions_ = 0;
  std::unique_ptr<OperatorChannel> operator_channel_;
};

}  // namespace tributary::dashboard
