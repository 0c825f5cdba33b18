// Bounds the bulk bytes that all sessions of a process have in flight together.
//
// A transport that encrypts holds a copy of the message that each connection is sending, so without
// a common bound the memory of a process grows with the number of its peers. The window of a
// session (send_window.h) follows its link; this one follows the memory.
//
// Sessions that find no room wait in a queue. A session at its front may send as much as both
// windows allow, and then waits behind all others. While others wait, bytes of a session that has
// acknowledged nothing for a second do not count, and it sends nothing more until it does: a link
// that is slow or dead delays no other. So at most bytes_max are in flight, and beside them what
// such sessions had in flight when they stopped.
//
// Pure: every call gets the time. Not thread-safe. A window outlives its sessions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/round/common/machine/events.h"

namespace tributary {

class SharedWindow {
 public:
  static constexpr TimeNs kSilentAfterNs = 1'000'000'000;

  explicit SharedWindow(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  // A session's part of the window. Its end returns its bytes. Empty: nothing is bounded.
  class Share {
   public:
    Share() = default;
    Share(Share&& from) noexcept
        : window_(std::exchange(from.window_, nullptr)), session_(from.session_) {}
    Share& operator=(Share&& from) noexcept {
      std::swap(window_, from.window_);
      std::swap(session_, from.session_);
      return *this;
    }
    ~Share() {
      if (window_) window_->leave(session_);
    }

    // True if `bytes` more may be sent now. Otherwise the session waits for its turn.
    bool admits(TimeNs now, std::uint64_t bytes) {
      return !window_ || window_->admits(session_, now, bytes);
    }
    void sent(TimeNs now, std::uint64_t bytes) {
      if (window_) window_->sent(session_, now, bytes);
    }
    void acknowledged(TimeNs now, std::uint64_t bytes) {
      if (window_) window_->acknowledged(session_, now, bytes);
    }

   private:
    friend class SharedWindow;
    Share(SharedWindow& window, std::uint64_t session) : window_(&window), session_(session) {}

    SharedWindow* window_ = nullptr;
    std::uint64_t session_ = 0;
  };
  // Adds a session. It has only one share at a time.
  Share join(std::uint64_t session);

  // Returns a session that waited and may send now, and gives it the turn until the next call.
  // Call it after each event until it returns nothing.
  std::optional<std::uint64_t> next(TimeNs now);
  // The time from which next() may return a session although nothing was acknowledged.
  TimeNs next_due_ns() const;

  // In flight in all sessions.
  std::uint64_t bytes_under_way() const { return bytes_ + bytes_silent_; }
  std::uint64_t bytes_max() const { return bytes_max_; }

 private:
  struct Session {
    std::uint64_t under_way = 0;
    TimeNs progress_at_ns = 0;    // when something was acknowledged, or first sent
    std::uint64_t requested = 0;  // bytes that the waiting session needs; 0: it does not wait
    bool silent = false;          // its bytes do not count
  };

  bool admits(std::uint64_t session, TimeNs now, std::uint64_t bytes);
  void sent(std::uint64_t session, TimeNs now, std::uint64_t bytes);
  void acknowledged(std::uint64_t session, TimeNs now, std::uint64_t bytes);
  void leave(std::uint64_t session);
  bool fits(std::uint64_t bytes) const { return bytes_ == 0 || bytes_ + bytes <= bytes_max_; }
  void look_for_silent(TimeNs now);

  const std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;         // those that count
  std::uint64_t bytes_silent_ = 0;  // those of silent sessions
  std::map<std::uint64_t, Session> sessions_;
  std::deque<std::uint64_t> queue_;  // may contain sessions that no longer wait
  std::set<std::pair<TimeNs, std::uint64_t>> by_progress_;  // sessions whose bytes count, by time
  std::optional<std::uint64_t> turn_;
};

}  // namespace tributary
