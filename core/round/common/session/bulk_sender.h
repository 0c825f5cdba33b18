// Sends the bulk payloads of one session, each byte once. Streams wait in order, and leave part by
// part as the send window opens. Every part is a numbered bulk frame; the sender keeps a reference
// to its stream until the other side has acknowledged the number.
//
// A connection loses nothing unless it is lost itself, so no timer repeats a part. A part is
// repeated if the other side has answered a heartbeat that was sent after the part and still does
// not count it as received.
//
// Not thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/round_key.h"
#include "core/round/common/session/delivery_timer.h"
#include "core/round/common/session/send_window.h"
#include "core/round/common/session/shared_window.h"
#include "schemas/frame.h"

namespace tributary {

// Identifies a stream within its session: a payload of a round, or the bytes of a transfer.
struct BulkId {
  RoundKey round = {};
  std::uint32_t bucket = 0;
  std::uint32_t stage = 0;
  std::uint32_t segment = 0;
  std::uint64_t transfer = 0;

  friend auto operator<=>(const BulkId&, const BulkId&) = default;
};

// Bytes to send, and the functions that cut them and make frames of them.
struct BulkStream {
  BulkId id;
  std::uint64_t bytes = 0;
  // Returns `size` bytes from `offset` on, or fewer, but at least one if the stream has any.
  std::function<PayloadSlice(std::uint64_t offset, std::uint32_t size)> slice;
  std::function<wire::FrameT(std::uint64_t offset, const PayloadSlice& slice)> frame;
};

// Cuts one piece of memory, which the slices share. `owner` keeps it alive.
std::function<PayloadSlice(std::uint64_t, std::uint32_t)> slices_of(
    std::shared_ptr<const void> owner, ByteSpan bytes);
std::function<PayloadSlice(std::uint64_t, std::uint32_t)> slices_of(SharedBytes bytes);

class BulkSender {
 public:
  // Sends a numbered frame. `slice` is null if the frame has no payload: it then replaces a lost
  // part of a dropped stream, so that the numbers have no gap.
  using Emit =
      std::function<void(std::uint64_t number, wire::FrameT frame, const PayloadSlice* slice)>;

  SendWindow& window() { return window_; }
  const SendWindow& window() const { return window_; }
  // From now on all parts count in a window that the session shares with others. Nothing is in
  // flight yet. When the window gives the session its turn, the caller pumps.
  void share(SharedWindow::Share share) { share_ = std::move(share); }

  // Adds a stream, which is sent from byte `from` on. A stream with the same id stays as it is, so
  // a payload that is requested twice is sent once.
  void add(BulkStream stream, std::uint64_t from = 0);
  // Stops sending a stream. Parts in flight stay in flight.
  void drop(const BulkId& id);
  // True while the stream is being sent or is not fully acknowledged.
  bool has(const BulkId& id) const { return streams_.contains(id); }

  // Sends as many parts as both windows allow. `beat` is the number of heartbeats sent so far.
  void pump(TimeNs now, std::uint64_t beat, const Emit& emit);
  // Removes all frames up to this number, which have arrived, and updates the window.
  void acknowledged(TimeNs now, std::uint64_t up_to);
  // Repeats, with the same numbers, all parts that were sent before heartbeat `answered_beat`,
  // which the other side has answered, and are not acknowledged. Returns false if one part was lost
  // more than 8 times.
  bool repeat_lost(std::uint64_t answered_beat, std::uint64_t beat, const Emit& emit);

  // The best measurement of the link since the previous call.
  std::optional<Delivery> take_delivery() { return deliveries_.take(); }

  std::uint64_t bytes_under_way() const { return window_.bytes_under_way(); }
  std::uint64_t bytes_waiting() const;
  std::uint64_t bytes_repeated() const { return bytes_repeated_; }
  std::uint64_t last_number() const { return last_number_; }
  bool idle() const { return under_way_.empty() && waiting_.empty(); }

 private:
  // A part that is lost more often shows that the connection does not work.
  static constexpr std::uint32_t kRepeatsMax = 8;

  struct Stream {
    BulkStream spec;
    std::uint64_t next = 0;       // the first byte that was never sent
    std::uint64_t under_way = 0;  // number of parts in flight
    bool dropped = false;
    bool all_sent() const { return next >= spec.bytes; }
  };
  struct Part {
    std::uint64_t number = 0;
    std::shared_ptr<Stream> stream;
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
    SendWindow::Sent sent;
    DeliveryTimer::Run run;
    std::uint64_t beat = 0;  // number of heartbeats sent before it
    std::uint32_t repeats = 0;
  };

  std::uint32_t next_part_bytes(const Stream& stream) const;
  void send_part(TimeNs now, std::uint64_t beat, const std::shared_ptr<Stream>& stream,
                 const Emit& emit);
  void forget_if_done(const std::shared_ptr<Stream>& stream);

  SendWindow window_;
  SharedWindow::Share share_;
  DeliveryTimer deliveries_;
  std::map<BulkId, std::shared_ptr<Stream>> streams_;
  std::deque<std::shared_ptr<Stream>> waiting_;  // in order of add()
  std::deque<Part> under_way_;                   // ascending by number
  std::uint64_t last_number_ = 0;
  std::uint64_t bytes_repeated_ = 0;
};

}  // namespace tributary
