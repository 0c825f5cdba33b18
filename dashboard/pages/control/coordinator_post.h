// Whoever asks the coordinator of a run, and hears what it answers: whether it is there at all, and
// may be asked with this key; what it was asked, and what came of that.
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
  static constexpr int kLookSeldomMs = 10'000;  // where this key may not ask

  explicit CoordinatorPost(QObject* parent = nullptr);

  // Null: none. The run must stay until the next call.
  void set_run(RunSession* run);
  // Looks again and again whether the coordinator is there, as long as somebody sees it.
  void set_awake(bool awake);

  void ask(const ControlRequest& request);

  bool ready() const { return known_ && presence_.ok(); }  // it answers, and may be asked
  bool known() const { return !run_ || known_; }           // whether it is there
  std::size_t waiting() const { return asked_.size(); }    // requests without an answer
  QString presence() const;                                // in a sentence or two
  const QStringList& agents() const { return agents_; }    // that it told of

 signals:
  void changed();  // ready(), presence(), agents() or waiting()
  void told(const QString& line, bool error);

 private:
  void look();
  void take(const OperatorAnswer& answer);
  void take_look(const OperatorAnswer& answer);
  void note(const Status& presence, QStringList agents);

  RunSession* run_ = nullptr;
  QTimer timer_;
  bool awake_ = false;
  std::uint64_t look_ = 0;  // the number of that question; 0: none is under way
  std::map<std::uint64_t, QString> asked_;
  bool known_ = false;
  Status presence_;
  QStringList agents_;
};

}  // namespace tributary::dashboard
