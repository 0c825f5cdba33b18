// A run that is open: its file, or the coordinator that tells of it, is followed on a thread of its
// own, and what pages show of it is kept here, in the thread of the windows.
//
// Of what was read one portion waits at most: the thread reads on when it has been taken, so that a
// window that is busy is not drowned by a file that is large.
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
#include "dashboard/session/operator_line.h"
#include "dashboard/session/run_origin.h"

namespace tributary::dashboard {

class RunSessionReader;

struct RunSessionOptions {
  RunOrigin origin = {};
  RunLimits limits = {};
  // How often a run that has nothing new is looked at.
  std::chrono::milliseconds look_every{200};
};

class RunSession : public QObject {
  Q_OBJECT

 public:
  explicit RunSession(const RunSessionOptions& options, QObject* parent = nullptr);
  ~RunSession() override;

  const RunView& view() const { return *view_; }
  const RunOrigin& origin() const { return origin_; }
  // For legends and titles: the origin's, unless somebody found a better one.
  QString name() const { return name_; }
  void set_name(const QString& name);
  // What the run's colour goes by, in every picture.
  QString key() const { return origin_.key; }

  // The job that is shown: the one submitted last, unless another is chosen; 0 before there is one.
  std::uint64_t job() const;
  const JobInfo* job_info() const;  // of job(); null before there is one
  void choose_job(std::uint64_t job);

  // Ok as long as the run can be read; it is tried again by itself.
  const Status& trouble() const { return trouble_; }
  // Everything that was there when it was opened has been read.
  bool caught_up() const { return caught_up_; }

  // The answer is round_read or round_not_read; of several that wait the newest alone counts.
  void ask_round(std::uint64_t job, std::uint64_t round);
  // What an operator wants of the coordinator (core/service/operator_talk.h). Always answered, by
  // operator_answered with the number that this returns.
  std::uint64_t ask_operator(std::string question);

 signals:
  void changed();          // something in view(), 30 times a second at most
  void trouble_changed();  // or gone
  void round_read(std::shared_ptr<const RoundDetail> detail);
  void round_not_read(std::uint64_t round, const QString& why);
  void operator_answered(const tributary::dashboard::OperatorAnswer& answer);

 private:
  void take_portion();
  void take_answers();
  void note_trouble(const Status& trouble);
  void tell_of_change();

  std::unique_ptr<RunView> view_;
  RunOrigin origin_;
  QString name_;
  std::uint64_t chosen_job_ = 0;
  Status trouble_;
  bool caught_up_ = false;
  QTimer change_timer_;
  std::unique_ptr<RunSessionReader> reader_;
  std::uint64_t questions_ = 0;
  std::unique_ptr<OperatorLine> operator_line_;
};

}  // namespace tributary::dashboard
