// Limits how often a page updates its tables: at most once per kEveryMs, and only while the page is
// visible. Rows that move more often cannot be read or clicked. GUI thread only.
//
// The owner calls touch() after every change that may matter; it costs a comparison while the
// interval lasts. `update` runs on the same thread and may call touch() again.
#pragma once

#include <QTimer>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace tributary::dashboard {

// Remembers the revisions that a page has shown, to detect whether anything is new. is_new() takes
// the revisions as shown from then on.
class ShownRevisions {
 public:
  bool is_new(std::uint64_t job, std::vector<std::uint64_t> revisions) {
    std::pair now(job, std::move(revisions));
    if (seen_ == now) return false;
    seen_ = std::move(now);
    return true;
  }

 private:
  std::optional<std::pair<std::uint64_t, std::vector<std::uint64_t>>> seen_;
};

class TableClock {
 public:
  static constexpr int kEveryMs = 250;

  explicit TableClock(std::function<void()> update) : update_(std::move(update)) {
    timer_.setSingleShot(true);
    timer_.setInterval(kEveryMs);
    QObject::connect(&timer_, &QTimer::timeout, &timer_, [this] {
      if (due_) run();
    });
  }

  // Reports a possible change. The update runs at once if the last one is at least kEveryMs ago,
  // otherwise when that time has passed.
  void touch(bool visible) {
    due_ = true;
    visible_ = visible;
    if (!timer_.isActive()) run();
  }
  // Updates at once, whatever the time of the last update. Called when the page becomes visible.
  void run_now() {
    visible_ = true;
    run();
  }
  // Whether an update is due: the interval has not passed, or the page is hidden.
  bool waits() const { return due_; }

 private:
  void run() {
    if (!visible_) return;
    due_ = false;
    update_();
    timer_.start();
  }

  std::function<void()> update_;
  QTimer timer_;
  bool due_ = false;
  bool visible_ = false;
};

}  // namespace tributary::dashboard
