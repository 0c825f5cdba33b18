#include "dashboard/window/open_runs.h"

#include <algorithm>
#include <map>

namespace tributary::dashboard {

OpenRuns::~OpenRuns() = default;

Status OpenRuns::open(const RunOrigin& origin) {
  const std::string place = origin.place.toStdString();
  if (runs_.size() >= kRunsMax) {
    return {StatusCode::resource_exhausted,
            {.what = "open runs",
             .expected = "at most " + std::to_string(kRunsMax),
             .got = "one more: " + place,
             .remedy = "close one with Ctrl+W"}};
  }
  const bool known =
      std::ranges::any_of(runs_, [&](const auto& each) { return each->key() == origin.key; });
  if (known) {
    return {StatusCode::already_exists,
            {.what = place,
             .expected = "a run that is not open",
             .got = "an open run",
             .remedy = "select it in the status bar"}};
  }
  auto run = std::make_unique<RunSession>(RunSessionOptions{.origin = origin});
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
  // The session lives until the receivers of runs_changed() have dropped it.
  const std::unique_ptr<RunSession> closed = std::move(*found);
  runs_.erase(found);
  find_names();
  emit runs_changed();
}

// Many runs are named run.db. Runs with the same name are distinguished by their folders.
void OpenRuns::find_names() {
  std::map<QString, int> names;
  for (const auto& run : runs_) ++names[run->origin().name];
  for (const auto& run : runs_) {
    const RunOrigin& origin = run->origin();
    run->set_name(names[origin.name] == 1 ? origin.name : origin.longer_name);
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
