#include "core/round/common/session/shared_window.h"

#include <algorithm>

namespace tributary {

SharedWindow::Share SharedWindow::join(std::uint64_t session) {
  sessions_[session] = {};
  return {*this, session};
}

void SharedWindow::leave(std::uint64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const Session& left = found->second;
  (left.silent ? bytes_silent_ : bytes_) -= left.under_way;
  by_progress_.erase({left.progress_at_ns, session});
  sessions_.erase(found);
}

// While others wait, a session that does not have the turn waits behind them, even if its part
// would fit: small parts would otherwise keep a large one waiting forever.
bool SharedWindow::admits(std::uint64_t session, TimeNs now, std::uint64_t bytes) {
  Session& asking = sessions_[session];
  if (asking.silent) return false;
  const bool first = queue_.empty() || turn_ == session;
  if (first && fits(bytes)) return true;
  if (asking.requested == 0) queue_.push_back(session);
  asking.requested = std::max<std::uint64_t>(bytes, 1);
  if (turn_ == session) turn_.reset();
  look_for_silent(now);
  return false;
}

void SharedWindow::sent(std::uint64_t session, TimeNs now, std::uint64_t bytes) {
  Session& sender = sessions_[session];
  if (sender.under_way == 0) {
    sender.progress_at_ns = now;
    by_progress_.emplace(now, session);
  }
  sender.under_way += bytes;
  bytes_ += bytes;
}

void SharedWindow::acknowledged(std::uint64_t session, TimeNs now, std::uint64_t bytes) {
  Session& sender = sessions_[session];
  bytes = std::min(bytes, sender.under_way);
  by_progress_.erase({sender.progress_at_ns, session});
  if (sender.silent) {
    bytes_silent_ -= sender.under_way;
    bytes_ += sender.under_way;
    sender.silent = false;
  }
  sender.under_way -= bytes;
  bytes_ -= bytes;
  sender.progress_at_ns = now;
  if (sender.under_way > 0) by_progress_.emplace(now, session);
}

void SharedWindow::look_for_silent(TimeNs now) {
  while (!by_progress_.empty() && by_progress_.begin()->first + kSilentAfterNs <= now) {
    Session& session = sessions_[by_progress_.begin()->second];
    by_progress_.erase(by_progress_.begin());
    session.silent = true;
    bytes_ -= session.under_way;
    bytes_silent_ += session.under_way;
  }
}

std::optional<std::uint64_t> SharedWindow::next(TimeNs now) {
  turn_.reset();
  while (!queue_.empty()) {
    const std::uint64_t session = queue_.front();
    const auto waiting = sessions_.find(session);
    if (waiting == sessions_.end() || waiting->second.requested == 0) {
      queue_.pop_front();
      continue;
    }
    if (!fits(waiting->second.requested)) look_for_silent(now);
    if (!fits(waiting->second.requested)) return std::nullopt;
    queue_.pop_front();
    waiting->second.requested = 0;
    turn_ = session;
    return session;
  }
  return std::nullopt;
}

TimeNs SharedWindow::next_due_ns() const {
  if (queue_.empty() || by_progress_.empty()) return kNever;
  return by_progress_.begin()->first + kSilentAfterNs;
}

}  // namespace tributary
