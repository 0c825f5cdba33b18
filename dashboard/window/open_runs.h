// The runs that are open, in the order of their opening, and what they say together.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "dashboard/session/run_session.h"

namespace tributary::dashboard {

class OpenRuns : public QObject {
  Q_OBJECT

 public:
  static constexpr std::size_t kRunsMax = 8;  // colours that are told apart

  explicit OpenRuns(QObject* parent = nullptr) : QObject(parent) {}
  ~OpenRuns() override;

  // What is not there, or is no run, is open all the same: it says so, and is tried again. Errors:
  // already_exists, and resource_exhausted beyond kRunsMax.
  Status open(const RunOrigin& origin);
  void close(const RunSession* run);

  std::vector<RunSession*> runs() const;
  bool caught_up() const;

 signals:
  void runs_changed();     // before one that was closed is gone
  void changed();          // something in one of them
  void trouble_changed();  // of one of them

 private:
  void find_names();

  std::vector<std::unique_ptr<RunSession>> runs_;
};

}  // namespace tributary::dashboard
