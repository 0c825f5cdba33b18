// The messages of one session that wait for an answer, and the rule for sending them again.
//
// A message is lost if the other side has answered a heartbeat that was sent after it and still
// lacks the message. A lost message is repeated at most `retries_max` times. A message that has
// arrived but has no answer yet is repeated as a question, at doubling intervals: the answer may
// take long, or may have been lost. A "beat" is the number of a heartbeat of this side.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "core/round/common/machine/events.h"
#include "schemas/frame.h"

namespace tributary {

class AskedMessages {
  // Makes the frame of a message. It is called again for each repeat, so that no copy of a large
  // message is kept.
 public:
  using Maker = std::function<wire::FrameT()>;
  // Sends a frame.
  using Emit = std::function<void(wire::FrameT)>;

  // The description of a message that waited for an answer.
  struct Asked {
    wire::Message kind = wire::Message::NONE;
    std::uint64_t tag = 0;  // assigned by the sender of the message
  };

  explicit AskedMessages(std::uint32_t retries_max) : retries_max_(retries_max) {}

  // Returns the frame to send, with its message id. Empty if 256 messages already wait; the session
  // has then failed.
  std::optional<wire::FrameT> add(TimeNs now, Maker maker, std::uint64_t tag, std::uint64_t beat);
  // Marks all messages up to this id as arrived. Calls `round_trip` with the time that a message
  // took, except for repeated messages, whose time is ambiguous.
  void arrived(TimeNs now, std::uint64_t up_to, std::uint64_t beat,
               const std::function<void(TimeNs)>& round_trip);
  // Removes the message with this id and returns its description; empty if it does not wait.
  std::optional<Asked> answered(std::uint64_t id);
  // Repeats lost messages. `answered_beat` is the last heartbeat that the other side has answered,
  // `beat` the last one that was sent.
  void repeat_lost(std::uint64_t answered_beat, std::uint64_t beat, const Emit& emit);

  std::size_t size() const { return messages_.size(); }
  std::uint64_t next_id() const { return next_id_; }
  // True if a message was repeated too often, or too many waited. The session is then lost.
  bool failed() const { return failed_; }

 private:
  // Limit for waiting messages; more of them mean that the peer does not answer.
  static constexpr std::size_t kAskedMax = 256;
  static constexpr std::uint64_t kPatienceBeats = 2;

  struct Pending {
    Maker maker;
    Asked asked;
    TimeNs sent_at_ns = 0;
    std::uint64_t beat = 0;  // number of heartbeats sent before it
    std::uint32_t repeats = 0;
    bool arrived = false;
    std::uint64_t patience = kPatienceBeats;  // heartbeats until it is repeated as a question
  };

  std::uint32_t retries_max_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Pending> messages_;
  bool failed_ = false;
};

}  // namespace tributary
