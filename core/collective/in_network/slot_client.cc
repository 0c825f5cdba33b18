#include "core/collective/in_network/slot_client.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

namespace tributary::in_network {

SlotClient::SlotClient(const SlotClientOptions& options)
    : window_(options), slots_(options.slots) {}

void SlotClient::enter(std::uint32_t epoch) {
  epoch_ = epoch;
  for (Slot& slot : slots_) {
    slot = {};
    slot.turn.enter(epoch);
  }
  timed_ = {};
  to_repeat_ = {};
  end_ = BucketEnd::complete;
  refused_for_ = DropReason::none;
}

void SlotClient::begin(std::uint32_t chunks, std::int64_t deadline_ns) {
  assert(end_ == BucketEnd::complete && timed_.size == 0 && to_repeat_.size == 0);
  chunks_ = chunks;
  next_chunk_ = 0;
  results_ = 0;
  deadline_ns_ = deadline_ns;
  end_ = chunks == 0 ? BucketEnd::complete : BucketEnd::running;
}

void SlotClient::append(List& list, std::uint32_t slot) {
  slots_[slot].before = list.last;
  slots_[slot].after = kNone;
  (list.last == kNone ? list.first : slots_[list.last].after) = slot;
  list.last = slot;
  ++list.size;
}

void SlotClient::unlink(List& list, std::uint32_t slot) {
  const Slot& gone = slots_[slot];
  (gone.before == kNone ? list.first : slots_[gone.before].after) = gone.after;
  (gone.after == kNone ? list.last : slots_[gone.after].before) = gone.before;
  --list.size;
}

ChunkSend SlotClient::send(std::uint32_t number, std::int64_t now_ns) {
  Slot& slot = slots_[number];
  slot.sent_ns = now_ns;
  slot.timed = true;
  append(timed_, number);
  ++sent_;
  return {.chunk = slot.chunk,
          .slot = static_cast<std::uint16_t>(number),
          .sequence = slot.turn.sequence()};
}

std::optional<ChunkSend> SlotClient::next_send(std::int64_t now_ns) {
  if (end_ != BucketEnd::running || timed_.size >= window_.chunks()) return std::nullopt;
  if (to_repeat_.size > 0) {
    const std::uint32_t number = to_repeat_.first;
    unlink(to_repeat_, number);
    slots_[number].repeated = true;
    ++repeats_;
    return send(number, now_ns);
  }
  if (next_chunk_ == chunks_) return std::nullopt;
  const std::uint32_t number = next_chunk_ % window_.slots();
  Slot& slot = slots_[number];
  if (slot.turn.waiting()) return std::nullopt;
  slot.turn.contribute();
  slot.chunk = next_chunk_++;
  slot.repeated = false;
  return send(number, now_ns);
}

std::optional<std::uint32_t> SlotClient::chunk_of(const PacketHeader& header) const {
  if (end_ != BucketEnd::running || header.slot >= slots_.size()) return std::nullopt;
  const Slot& slot = slots_[header.slot];
  if (!slot.turn.accepts(header.epoch, header.sequence)) return std::nullopt;
  return slot.chunk;
}

bool SlotClient::on_result(const PacketHeader& header, std::int64_t now_ns) {
  if (!chunk_of(header)) return false;
  Slot& slot = slots_[header.slot];
  slot.turn.move_on();
  unlink(slot.timed ? timed_ : to_repeat_, header.slot);
  window_.on_result(slot.repeated);
  if (++results_ == chunks_) end_ = BucketEnd::complete;
  window_.on_answer(slot.sent_ns, now_ns, slot.repeated);
  while (timed_.size > 0 && window_.is_lost(slots_[timed_.first].sent_ns)) {
    window_.on_loss();
    repeat_first();
  }
  return true;
}

// The chunk that was sent before all others is due again.
void SlotClient::repeat_first() {
  const std::uint32_t number = timed_.first;
  unlink(timed_, number);
  append(to_repeat_, number);
  slots_[number].timed = false;
}

bool SlotClient::on_refusal(const PacketHeader& header) {
  if (!chunk_of(header)) return false;
  end_ = BucketEnd::refused;
  refused_for_ = header.reason;
  return true;
}

void SlotClient::on_time(std::int64_t now_ns) {
  if (end_ != BucketEnd::running) return;
  if (now_ns >= deadline_ns_) {
    end_ = BucketEnd::deadline;
    return;
  }
  const std::int64_t timeout = window_.timeout_ns();
  while (timed_.size > 0 && slots_[timed_.first].sent_ns + timeout <= now_ns) {
    window_.on_timeout(slots_[timed_.first].sent_ns, now_ns);
    repeat_first();
  }
}

std::int64_t SlotClient::next_time_ns() const {
  if (end_ != BucketEnd::running) return kNoTime;
  if (timed_.size == 0) return deadline_ns_;
  return std::min(deadline_ns_, slots_[timed_.first].sent_ns + window_.timeout_ns());
}

}  // namespace tributary::in_network
