// Messages to peers that the thread of the peer link has not taken yet, with a bound on their
// bytes.
//
// A message that exceeds the bound is dropped, and so are all later ones, because the session
// cannot continue without it. Its receiver is remembered as the member that takes its messages too
// slowly.
//
// Not thread-safe; the owner locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/round/common/machine/actions.h"

namespace tributary {

class UnsentMessages {
 public:
  explicit UnsentMessages(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Returns false if the message was dropped. All later messages are then dropped until clear().
  bool push(SendToPeer message) {
    if (overrun_by_) return false;
    const std::size_t bytes = message.frame.size() + message.payload.size();
    if (bytes > bytes_max_ - bytes_) {
      overrun_by_ = message.member;
      return false;
    }
    bytes_ += bytes;
    messages_.push_back(std::move(message));
    return true;
  }

  // Returns the messages in the order of push().
  std::vector<SendToPeer> take() {
    bytes_ = 0;
    return std::exchange(messages_, {});
  }
  void clear() {
    take();
    overrun_by_.reset();
  }

  bool empty() const { return messages_.empty(); }
  // The receiver of the message that exceeded the bound.
  std::optional<std::uint32_t> overrun_by() const { return overrun_by_; }

 private:
  const std::size_t bytes_max_;
  std::vector<SendToPeer> messages_;
  std::size_t bytes_ = 0;  // size of messages_ in bytes; at most bytes_max_
  std::optional<std::uint32_t> overrun_by_;
};

}  // namespace tributary
