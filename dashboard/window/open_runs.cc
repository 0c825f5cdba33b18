#include "dashboard/window/open_runs.h"

#include <QFileInfo>
#include <algorithm>
#include <map>

namespace tributary::dashboard {

OpenRuns::~OpenRuns() = default;

Status OpenRuns::open(const std::string& path) {
  if (runs_.size() >= kRunsMax) {
    return {StatusCode::resource_exhausted,
            {.what = "open runs",
             .expected = "at most " + std::to_string(kRunsMax),
             .got = "one more: " + path,
             .remedy = "close one with Ctrl+W"}};
  }
  auto run = std::make_unique<RunSession>(RunSessionOptions{.path = path});
  const bool known =
      std::ranges::any_of(runs_, [&](const auto& one) { return one->key() == run->key(); });
  if (known) {
    return {StatusCode::already_exists,
            {.what = path, .expected = "a run that is not open", .got = "one that is"}};
  }
  connect(run.get(), &RunSession::changed, this, &OpenRuns::changed);
  connect(run.get(), &RunSession::trouble_changed, this, &OpenRuns::trouble_changed);
  runs_.push_back(std::move(run));
  find_names();
  emit runs_changed();
  return {};
}

void OpenRuns::close(const RunSession* run) {
  const auto found = std::ranges::find(runs_, run, &std::unique_ptr<RunSession>::get);
  if (found == runs_.end()) return;
  const std::unique_ptr<RunSession> closed = std::move(*found);
  runs_.erase(found);
  find_names();
  emit runs_changed();
}

// Two files may have one name, as every run.db: these are told apart by their folders.
void OpenRuns::find_names() {
  std::map<QString, int> files;
  const auto file_of = [](const RunSession& run) {
    return QFileInfo(QString::fromStdString(run.path()));
  };
  for (const auto& run : runs_) ++files[file_of(*run).fileName()];
  for (const auto& run : runs_) {
    const QFileInfo file = file_of(*run);
    const bool alone = files[file.fileName()] == 1;
    const QString folder = QFileInfo(file.absolutePath()).fileName();
    run->set_name(alone || folder.isEmpty() ? file.fileName() : folder + '/' + file.fileName());
  }
}

std::vector<RunSession*> OpenRuns::runs() const {
  std::vector<RunSession*> all;
  for (const auto& run : runs_) all.push_back(run.get());
  return all;
}

bool OpenRuns::caught_up() const {
  return std::ranges::all_of(runs_, [](const auto& run) { return run->caught_up(); });
}

}  // namespace tributary::dashboard
