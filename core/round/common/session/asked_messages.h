// Messages of one session that wait for an answer, and when one of them is sent again.
//
// A message is lost when the other side has answered a heartbeat that was sent behind it and does
// not have it. One that has arrived and is not answered is repeated as a question, less and less
// often: its answer may take long, or be lost. Beats are the numbers of this side's heartbeats.
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
 public:
  using Maker = std::function<wire::FrameT()>;
  using Emit = std::function<void(wire::FrameT)>;

  // What was waiting for an answer.
  struct Asked {
    wire::Message kind = wire::Message::NONE;
    std::uint64_t tag = 0;  // the sender's own
  };

  explicit AskedMessages(std::uint32_t retries_max) : retries_max_(retries_max) {}

  // The frame to be sent, with its number. Nothing: too many wait.
  std::optional<wire::FrameT> add(TimeNs now, Maker maker, std::uint64_t tag, std::uint64_t beat);
  // All messages up to this number have arrived. `round_trip` is called with the time that each
  // took, where that is known for sure.
  void arrived(TimeNs now, std::uint64_t up_to, std::uint64_t beat,
               const std::function<void(TimeNs)>& round_trip);
  // Takes the message with this number out, and says what it was.
  std::optional<Asked> answered(std::uint64_t id);
  // The other side has heard heartbeat `beat_heard`; `beat` is the last one that was sent.
  void repeat_lost(std::uint64_t beat_heard, std::uint64_t beat, const Emit& emit);

  std::size_t size() const { return messages_.size(); }
  std::uint64_t next_id() const { return next_id_; }
  // A message was repeated too often, or too many waited.
  bool failed() const { return failed_; }

 private:
  static constexpr std::size_t kAskedMax = 256;
  static constexpr std::uint64_t kPatienceBeats = 2;

  struct Pending {
    Maker maker;
    Asked asked;
    TimeNs sent_at_ns = 0;
    std::uint64_t beat = 0;  // heartbeats that had been sent before it
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
