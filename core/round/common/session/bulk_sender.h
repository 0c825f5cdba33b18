// Sends bulk payloads of one session, each byte once: streams wait in order, and leave part by part
// as the send window opens. Every part is a numbered bulk frame; it is kept, by reference to its
// stream, until the other side has acknowledged its number.
//
// A connection loses nothing but with itself, so no timer repeats a part. A part is repeated when
// the other side is known to lack it: it has answered a heartbeat that was sent behind the part,
// and still does not count it as received.
//
// Threads: one at a time.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/round_key.h"
#include "core/round/common/session/send_window.h"
#include "schemas/frame.h"

namespace tributary {

// Names a stream within its session: a payload of a round, or the bytes of a transfer.
struct BulkId {
  RoundKey round = {};
  std::uint32_t bucket = 0;
  std::uint32_t stage = 0;
  std::uint64_t transfer = 0;

  friend auto operator<=>(const BulkId&, const BulkId&) = default;
};

// Bytes to be sent, and how they are made into frames.
struct BulkStream {
  BulkId id;
  std::uint64_t bytes = 0;
  // The bytes from `offset` on: `size` of them, or fewer, but at least one where the stream has
  // any.
  std::function<PayloadSlice(std::uint64_t offset, std::uint32_t size)> slice;
  std::function<wire::FrameT(std::uint64_t offset, const PayloadSlice& slice)> frame;
};

// A stream of one piece of memory, which the slices share.
std::function<PayloadSlice(std::uint64_t, std::uint32_t)> slices_of(SharedBytes bytes);

class BulkSender {
 public:
  // A numbered frame is to be sent. `slice` is null where the frame has no payload: it stands in
  // for a part whose stream is not wanted any more.
  using Emit =
      std::function<void(std::uint64_t number, wire::FrameT frame, const PayloadSlice* slice)>;

  SendWindow& window() { return window_; }
  const SendWindow& window() const { return window_; }

  // Adds a stream, to be sent from `from` on. A stream that is there already stays as it is: what
  // was asked for twice is sent once.
  void add(BulkStream stream, std::uint64_t from = 0);
  // The stream is not wanted any more. What of it is under way stays under way.
  void drop(const BulkId& id);
  // It is still being sent, or not acknowledged yet.
  bool has(const BulkId& id) const { return streams_.contains(id); }

  // Sends what the window allows. `beat` counts the heartbeats sent so far.
  void pump(TimeNs now, std::uint64_t beat, const Emit& emit);
  // Every frame up to this number has arrived.
  void acknowledged(TimeNs now, std::uint64_t up_to);
  // The other side has heard heartbeat `beat`: what was sent before it and is not acknowledged is
  // lost, and is sent again under its number. False: the same part was lost too often.
  bool repeat_lost(std::uint64_t beat_heard, std::uint64_t beat, const Emit& emit);

  std::uint64_t bytes_under_way() const { return window_.bytes_under_way(); }
  std::uint64_t bytes_waiting() const;
  std::uint64_t bytes_repeated() const { return bytes_repeated_; }
  std::uint64_t last_number() const { return last_number_; }
  bool idle() const { return under_way_.empty() && waiting_.empty(); }

 private:
  static constexpr std::uint32_t kRepeatsMax = 8;

  struct Stream {
    BulkStream spec;
    std::uint64_t next = 0;       // the first byte that was never sent
    std::uint64_t under_way = 0;  // parts
    bool dropped = false;
    bool all_sent() const { return next >= spec.bytes; }
  };
  struct Part {
    std::uint64_t number = 0;
    std::shared_ptr<Stream> stream;
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
    SendWindow::Sent sent;
    std::uint64_t beat = 0;  // heartbeats that had been sent before it
    std::uint32_t repeats = 0;
  };

  void send_part(TimeNs now, std::uint64_t beat, const std::shared_ptr<Stream>& stream,
                 const Emit& emit);
  void forget_if_done(const std::shared_ptr<Stream>& stream);

  SendWindow window_;
  std::map<BulkId, std::shared_ptr<Stream>> streams_;
  std::deque<std::shared_ptr<Stream>> waiting_;  // in order; what was dropped is skipped
  std::deque<Part> under_way_;                   // by number
  std::uint64_t last_number_ = 0;
  std::uint64_t bytes_repeated_ = 0;
};

}  // namespace tributary
