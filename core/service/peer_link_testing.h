// Receives the events of a peer link in place of an agent's machine.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/round/common/machine/events.h"

namespace tributary::service_testing {

inline constexpr std::chrono::seconds kLong{60};  // long enough for sanitizers

// Copies the bytes, because an event's bytes are valid only during the call.
inline std::string text_of(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

// `bytes` bytes, of which the first has the value `with`.
inline Bytes filled(std::size_t bytes, std::uint8_t with) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(with + i % 251);
  return out;
}

// An event of a peer.
struct PeerEvent {
  std::uint64_t session = 0;
  std::uint32_t from = 0;
  std::string frame;
  SharedSlice payload;
  Status lost;  // an error: this event is a loss
};

// Receives the events that a machine's loop would receive.
class Inbox {
 public:
  void post(Event event, std::shared_ptr<const void> owner) {
    const std::lock_guard lock(mutex_);
    if (auto* const received = std::get_if<PeerFrameReceived>(&event)) {
      events_.push_back({.session = received->session,
                         .from = received->from,
                         .frame = text_of(received->frame),
                         .payload = std::move(received->payload),
                         .lost = {}});
    } else {
      auto& lost = std::get<PeerLost>(event);
      EXPECT_FALSE(lost.why.ok());
      events_.push_back({.session = lost.session,
                         .from = lost.member,
                         .frame = {},
                         .payload = {},
                         .lost = std::move(lost.why)});
    }
    if (keep_) kept_.push_back(std::move(owner));
    changed_.notify_all();
  }
  // Returns the next event; fails if none arrives within kLong.
  PeerEvent next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kLong, [&] { return !events_.empty(); })) {
      ADD_FAILURE() << "nothing comes";
      return {};
    }
    PeerEvent first = std::move(events_.front());
    events_.pop_front();
    return first;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return events_.size();
  }
  // From now on messages count as unread until let_go().
  void keep_owners() {
    const std::lock_guard lock(mutex_);
    keep_ = true;
  }
  // Releases the kept messages and returns their number.
  std::size_t let_go() {
    std::vector<std::shared_ptr<const void>> done;
    const std::lock_guard lock(mutex_);
    done.swap(kept_);
    return done.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PeerEvent> events_;
  bool keep_ = false;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace tributary::service_testing
