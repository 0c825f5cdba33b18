// The open runs, in the order in which they were opened, and their combined state. GUI thread only.
//
// It owns the sessions, which are destroyed with it or by close(). Pointers from runs() are valid
// until runs_changed().
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
  static constexpr std::size_t kRunsMax = 8;  // the number of colours that can be distinguished

  explicit OpenRuns(QObject* parent = nullptr) : QObject(parent) {}
  ~OpenRuns() override;

  // Opens a run. A file that does not exist or is no run is also opened: the run reports the
  // problem and retries. Fails with already_exists, or with resource_exhausted beyond kRunsMax.
  Status open(const RunOrigin& origin);
  // Closes and destroys the run. An unknown pointer has no effect.
  void close(const RunSession* run);

  std::vector<RunSession*> runs() const;
  // Whether all open runs have been read completely.
  bool caught_up() const;

 signals:
  void runs_changed();     // emitted before a closed run is destroyed
  void changed();          // any run has changed
  void trouble_changed();  // of any run

 private:
  void find_names();

  std::vector<std::unique_ptr<RunSession>> runs_;
};

}  // namespace tributary::dashboard
