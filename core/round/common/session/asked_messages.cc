#include "core/round/common/session/asked_messages.h"

#include <utility>

namespace tributary {

std::optional<wire::FrameT> AskedMessages::add(TimeNs now, Maker maker, std::uint64_t tag,
                                               std::uint64_t beat) {
  // A peer that answers nothing must not grow the queue without limit.
  if (messages_.size() >= kAskedMax) {
    failed_ = true;
    return std::nullopt;
  }
  wire::FrameT frame = maker();
  frame.message_id = next_id_++;
  messages_.emplace(frame.message_id, Pending{.maker = std::move(maker),
                                              .asked = {.kind = frame.message.type, .tag = tag},
                                              .sent_at_ns = now,
                                              .beat = beat});
  return frame;
}

// "Arrived" means that the peer has the message, "answered" that it has handled it. A message that
// has arrived is not sent again until the peer's patience is over, because its answer may wait for
// a disk.
void AskedMessages::arrived(TimeNs now, std::uint64_t up_to, std::uint64_t beat,
                            const std::function<void(TimeNs)>& round_trip) {
  for (auto& [id, pending] : messages_) {
    if (id > up_to) break;
    if (std::exchange(pending.arrived, true)) continue;
    pending.beat = beat;
    if (pending.repeats > 0) continue;  // either copy may have arrived, so the time is unknown
    round_trip(now - pending.sent_at_ns);
  }
}

std::optional<AskedMessages::Asked> AskedMessages::answered(std::uint64_t id) {
  const auto found = messages_.find(id);
  if (found == messages_.end()) return std::nullopt;
  const Asked asked = found->second.asked;
  messages_.erase(found);
  return asked;
}

void AskedMessages::repeat_lost(std::uint64_t answered_beat, std::uint64_t beat, const Emit& emit) {
  for (auto& [id, pending] : messages_) {
    // Heartbeat `pending.beat` may have been answered without the message. Only an answer to a
    // later heartbeat proves that the message is lost, because a connection keeps the order.
    if (pending.beat + (pending.arrived ? pending.patience : 0) >= answered_beat) continue;
    // The answer to a message that has arrived was lost, or is not ready yet. Doubling the patience
    // keeps a slow peer from being asked ever more often. Only messages that never arrive count
    // towards the limit.
    if (pending.arrived) {
      pending.patience *= 2;
    } else if (++pending.repeats > retries_max_) {
      failed_ = true;
      return;
    }
    pending.beat = beat;
    wire::FrameT frame = pending.maker();
    frame.message_id = id;
    emit(std::move(frame));
  }
}

}  // namespace tributary
