// Brings a page's tables up to date a few times a second at most, and not while nobody sees them:
// nobody reads faster, and rows that move stay where they are long enough to be pointed at.
#pragma once

#include <QTimer>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace tributary::dashboard {

// Of what a page shows, the revisions that it saw last.
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
      if (wanted_) run();
    });
  }

  // Something may be new: at once, unless that was done just now.
  void touch(bool visible) {
    wanted_ = true;
    visible_ = visible;
    if (!timer_.isActive()) run();
  }
  void run_now() {
    visible_ = true;
    run();
  }
  bool waits() const { return wanted_; }

 private:
  void run() {
    if (!visible_) return;
    wanted_ = false;
    update_();
    timer_.start();
  }

  std::function<void()> update_;
  QTimer timer_;
  bool wanted_ = false;
  bool visible_ = false;
};

}  // namespace tributary::dashboard
