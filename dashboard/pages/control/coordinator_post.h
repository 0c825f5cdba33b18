// Sends requests to the coordinator of a run and reports the answers. It also checks regularly
// whether the coordinator answers and whether this key may make changes.
//
// GUI thread only. Requests are asynchronous: each answer arrives by the signal answered().
// Changing the run drops the requests without an answer.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <cstdint>
#include <map>

#include "dashboard/pages/control/control_request.h"
#include "dashboard/session/run_session.h"

namespace tributary::dashboard {

class CoordinatorPost : public QObject {
  Q_OBJECT

 public:
  static constexpr int kLookEveryMs = 2000;
  static constexpr int kLookSeldomMs = 10'000;  // after permission_denied

  explicit CoordinatorPost(QObject* parent = nullptr);

  // Null: no run. The run must stay valid until the next call.
  void set_run(RunSession* run);
  // Starts or stops the regular checks. The page keeps them running only while it is visible.
  void set_awake(bool awake);

  // Sends the request. Without a run nothing happens.
  void ask(const ControlRequest& request);

  // Whether the coordinator answers and permits changes.
  bool ready() const { return known_ && presence_.ok(); }
  bool known() const { return !run_ || known_; }         // the first check has finished
  std::size_t waiting() const { return asked_.size(); }  // requests without an answer
  QString presence() const;                              // one or two sentences
  const QStringList& agents() const { return agents_; }  // those in the coordinator's list

 signals:
  void changed();  // ready(), presence(), agents() or waiting()
  // One answer, as a line of text.
  void answered(const QString& line, bool error);

 private:
  void look();
  void take(const OperatorAnswer& answer);
  void take_look(const OperatorAnswer& answer);
  void note(const Status& presence, QStringList agents);

  RunSession* run_ = nullptr;
  QTimer timer_;
  bool awake_ = false;
  std::uint64_t look_ = 0;  // number of the check under way; 0: none
  // Labels of the requests without an answer, by their number.
  std::map<std::uint64_t, QString> asked_;
  bool known_ = false;
  Status presence_;
  QStringList agents_;
};

}  // namespace tributary::dashboard
