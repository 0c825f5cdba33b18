#include "core/round/common/session/bulk_sender.h"

#include <algorithm>
#include <utility>

namespace tributary {

std::function<PayloadSlice(std::uint64_t, std::uint32_t)> slices_of(SharedBytes bytes) {
  const ByteSpan all(*bytes);
  return slices_of(std::move(bytes), all);
}

std::function<PayloadSlice(std::uint64_t, std::uint32_t)> slices_of(
    std::shared_ptr<const void> owner, ByteSpan bytes) {
  return [owner = std::move(owner), bytes](std::uint64_t offset, std::uint32_t size) {
    return PayloadSlice{.owner = owner, .bytes = bytes.subspan(offset, size)};
  };
}

void BulkSender::add(BulkStream stream, std::uint64_t from) {
  if (streams_.contains(stream.id)) return;
  auto added = std::make_shared<Stream>();
  added->next = std::min(from, stream.bytes);
  // A stream of zero bytes still needs one frame. A stream whose bytes have all arrived before
  // needs none.
  const bool nothing_left = from > 0 && from >= stream.bytes;
  added->spec = std::move(stream);
  if (nothing_left) return;
  streams_.emplace(added->spec.id, added);
  waiting_.push_back(std::move(added));
}

// Parts under way keep the stream alive through under_way_. They are not repeated with their bytes
// any more, but their numbers still have to be acknowledged.
void BulkSender::drop(const BulkId& id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  found->second->dropped = true;
  std::erase(waiting_, found->second);
  streams_.erase(found);
}

// Streams are sent one after the other, not interleaved: a receiver can use the first payload while
// the next one arrives, and assembles few at a time.
void BulkSender::pump(TimeNs now, std::uint64_t beat, const Emit& emit) {
  bool admitted = true;
  while (!waiting_.empty() && window_.open(now)) {
    const std::shared_ptr<Stream> stream = waiting_.front();
    admitted = share_.admits(now, next_part_bytes(*stream));
    if (!admitted) break;
    send_part(now, beat, stream, emit);
    if (stream->all_sent()) waiting_.pop_front();
  }
  // Rates measured from here on would be those of the sender, or of other sessions, and not of the
  // link.
  if (!admitted || (waiting_.empty() && window_.open(now))) {
    window_.nothing_to_send();
    deliveries_.nothing_to_send();
  }
}

// A last part shorter than a quarter of a part is sent together with the part before it.
std::uint32_t BulkSender::next_part_bytes(const Stream& stream) const {
  const std::uint64_t left = stream.spec.bytes - stream.next;
  const std::uint64_t part = window_.part_bytes();
  const bool all = left <= part + part / 4 && left <= window_.part_bytes_max();
  return static_cast<std::uint32_t>(all ? left : std::min(left, part));
}

void BulkSender::send_part(TimeNs now, std::uint64_t beat, const std::shared_ptr<Stream>& stream,
                           const Emit& emit) {
  const std::uint64_t offset = stream->next;
  const std::uint32_t size = next_part_bytes(*stream);
  const PayloadSlice slice = stream->spec.slice(offset, size);
  const auto bytes = static_cast<std::uint32_t>(slice.bytes.size());
  stream->next += bytes;
  ++stream->under_way;
  const DeliveryTimer::Run run = deliveries_.sent(now, bytes, under_way_.empty());
  share_.sent(now, bytes);
  under_way_.push_back({.number = ++last_number_,
                        .stream = stream,
                        .offset = offset,
                        .size = bytes,
                        .sent = window_.sent(now, bytes),
                        .run = run,
                        .beat = beat});
  emit(last_number_, stream->spec.frame(offset, slice), &slice);
}

void BulkSender::forget_if_done(const std::shared_ptr<Stream>& stream) {
  if (stream->dropped || stream->under_way > 0 || !stream->all_sent()) return;
  streams_.erase(stream->spec.id);
}

// Acknowledgements are cumulative and numbers ascend, so only the front of the queue can be
// covered.
void BulkSender::acknowledged(TimeNs now, std::uint64_t up_to) {
  while (!under_way_.empty() && under_way_.front().number <= up_to) {
    const Part part = std::move(under_way_.front());
    under_way_.pop_front();
    window_.acknowledged(now, part.sent, part.repeats > 0);
    share_.acknowledged(now, part.size);
    if (part.repeats == 0) {
      deliveries_.acknowledged(now, part.run, window_.round_trip_min_ns());
    }
    --part.stream->under_way;
    forget_if_done(part.stream);
  }
}

bool BulkSender::repeat_lost(std::uint64_t answered_beat, std::uint64_t beat, const Emit& emit) {
  for (Part& part : under_way_) {
    // Only parts that were sent before the answered heartbeat are known to be lost.
    if (part.beat >= answered_beat) continue;
    if (++part.repeats > kRepeatsMax) return false;
    part.beat = beat;
    // The number must arrive, or all later numbers would never be acknowledged.
    if (part.stream->dropped) {
      emit(part.number, frame_with(wire::AckT()), nullptr);
      continue;
    }
    const PayloadSlice slice = part.stream->spec.slice(part.offset, part.size);
    bytes_repeated_ += slice.bytes.size();
    emit(part.number, part.stream->spec.frame(part.offset, slice), &slice);
  }
  return true;
}

std::uint64_t BulkSender::bytes_waiting() const {
  std::uint64_t bytes = 0;
  for (const auto& stream : waiting_) bytes += stream->spec.bytes - stream->next;
  return bytes;
}

}  // namespace tributary
