#include "core/collective/in_network/slot_client.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

namespace tributary::in_network {
namespace {

// Packets may overtake this number of others.
constexpr std::uint64_t kOvertaken = 8;
// Repeats under way hold no place in the window, up to this part of it. A lost chunk takes more
// than two round trips, and would otherwise keep others from being sent in the second one.
constexpr std::uint32_t kRepeatsPart = 4;

}  // namespace

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
  turns_ = {};
  answered_ordinal_ = 0;
  buckets_ = {};
  begun_ = completed_ = next_chunk_ = 0;
  end_ = BucketEnd::complete;
  refused_for_ = DropReason::none;
}

bool SlotClient::can_begin() const {
  if (end_ == BucketEnd::complete) return true;
  return end_ == BucketEnd::running && begun_ - completed_ < kOpenBucketsMax &&
         next_chunk_ == last().chunks;
}

void SlotClient::begin(std::uint32_t chunks, std::int64_t deadline_ns) {
  assert(can_begin());
  open(begun_++) = {.chunks = chunks, .deadline_ns = deadline_ns};
  next_chunk_ = 0;
  end_ = BucketEnd::running;
  settle();
}

// Buckets are complete in their order.
void SlotClient::settle() {
  while (completed_ < begun_ && open(completed_).results == open(completed_).chunks) ++completed_;
  if (completed_ == begun_) end_ = BucketEnd::complete;
}

std::int64_t SlotClient::deadline_ns() const {
  std::int64_t first = kNoTime;
  for (std::uint32_t b = completed_; b < begun_; ++b) first = std::min(first, open(b).deadline_ns);
  return first;
}

void SlotClient::append(List& list, std::uint32_t slot) {
  slots_[slot].before = list.last;
  slots_[slot].after = kNone;
  (list.last == kNone ? list.first : slots_[list.last].after) = slot;
  list.last = slot;
  ++list.size;
  list.repeats += slots_[slot].repeated ? 1u : 0u;
}

void SlotClient::unlink(List& list, std::uint32_t slot) {
  const Slot& gone = slots_[slot];
  (gone.before == kNone ? list.first : slots_[gone.before].after) = gone.after;
  (gone.after == kNone ? list.last : slots_[gone.after].before) = gone.before;
  --list.size;
  list.repeats -= gone.repeated ? 1u : 0u;
}

ChunkSend SlotClient::send(std::uint32_t number, std::int64_t now_ns) {
  Slot& slot = slots_[number];
  slot.sent_ns = now_ns;
  slot.ordinal = ++sent_;
  slot.timed = true;
  append(timed_, number);
  ++open(slot.of.bucket).sent;
  return {.bucket = slot.of.bucket,
          .chunk = slot.of.chunk,
          .slot = static_cast<std::uint16_t>(number),
          .sequence = slot.turn.sequence()};
}

ChunkSend SlotClient::send_again(std::uint32_t number, std::int64_t now_ns) {
  Slot& slot = slots_[number];
  unlink(slot.timed ? timed_ : to_repeat_, number);
  slot.repeated = true;
  ++repeats_;
  ++open(slot.of.bucket).repeats;
  return send(number, now_ns);
}

bool SlotClient::may_send() const {
  const std::uint32_t window = window_.chunks();
  return timed_.size < window + std::min(timed_.repeats, window / kRepeatsPart);
}

std::optional<ChunkSend> SlotClient::next_send(std::int64_t now_ns) {
  if (end_ != BucketEnd::running) return std::nullopt;
  if (turns_.oldest_due) {
    turns_.oldest_due = false;
    return send_again(oldest_slot(), now_ns);
  }
  if (!may_send()) return std::nullopt;
  if (to_repeat_.size > 0) return send_again(to_repeat_.first, now_ns);
  if (next_chunk_ == last().chunks) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(turns_.next % slots_.size());
  Slot& slot = slots_[number];
  if (slot.turn.waiting()) return std::nullopt;
  ++turns_.next;
  slot.turn.contribute();
  slot.of = {.bucket = begun_ - 1, .chunk = next_chunk_++};
  slot.repeated = slot.lost = false;
  return send(number, now_ns);
}

std::optional<ChunkOfBucket> SlotClient::chunk_of(const PacketHeader& header) const {
  if (end_ != BucketEnd::running || header.slot >= slots_.size()) return std::nullopt;
  const Slot& slot = slots_[header.slot];
  if (!slot.turn.accepts(header.epoch, header.sequence)) return std::nullopt;
  return slot.of;
}

bool SlotClient::on_result(const PacketHeader& header, std::int64_t now_ns) {
  if (!chunk_of(header)) return false;
  Slot& slot = slots_[header.slot];
  slot.turn.move_on();
  unlink(slot.timed ? timed_ : to_repeat_, header.slot);
  window_.on_result(slot.repeated, slot.lost);
  ++open(slot.of.bucket).results;
  settle();
  window_.on_answer(slot.sent_ns, now_ns, slot.repeated);
  if (!slot.repeated) answered_ordinal_ = std::max(answered_ordinal_, slot.ordinal);
  while (timed_.size > 0 && first_is_lost()) repeat_first(true);
  if (header.slot == oldest_slot()) turns_.oldest_due = false;
  while (turns_.oldest < turns_.next && !slots_[oldest_slot()].turn.waiting()) ++turns_.oldest;
  return true;
}

// A repeat needs the repeats of other agents, so the order shows nothing about it.
bool SlotClient::first_is_lost() const {
  const Slot& first = slots_[timed_.first];
  return window_.is_lost(first.sent_ns, first.repeated) ||
         (!first.repeated && first.ordinal + kOvertaken <= answered_ordinal_);
}

// The chunk that was sent before all others is due again.
void SlotClient::repeat_first(bool lost) {
  const std::uint32_t number = timed_.first;
  unlink(timed_, number);
  append(to_repeat_, number);
  slots_[number].timed = false;
  slots_[number].lost |= lost;
}

bool SlotClient::on_refusal(const PacketHeader& header) {
  if (!chunk_of(header)) return false;
  end_ = BucketEnd::refused;
  refused_for_ = header.reason;
  return true;
}

void SlotClient::on_time(std::int64_t now_ns) {
  if (end_ != BucketEnd::running) return;
  if (now_ns >= deadline_ns()) {
    end_ = BucketEnd::deadline;
    return;
  }
  std::int64_t patience_ns = window_.patience_ns();
  while (timed_.size > 0 &&
         window_.waits_since_ns(slots_[timed_.first].sent_ns) + patience_ns <= now_ns) {
    const Slot& first = slots_[timed_.first];
    switch (window_.on_overdue(first.sent_ns, now_ns)) {
      case ChunkWindow::Overdue::probe:
        repeat_first(first.repeated);
        break;
      case ChunkWindow::Overdue::oldest:
        turns_.oldest_due = true;
        return;
      case ChunkWindow::Overdue::all:
        return repeat_overdue(now_ns - patience_ns);
    }
    patience_ns = window_.patience_ns();
  }
}

// Those that were under way together.
void SlotClient::repeat_overdue(std::int64_t sent_ns_max) {
  while (timed_.size > 0 && slots_[timed_.first].sent_ns <= sent_ns_max) repeat_first(false);
}

std::int64_t SlotClient::next_time_ns() const {
  if (end_ != BucketEnd::running) return kNoTime;
  if (timed_.size == 0) return deadline_ns();
  return std::min(deadline_ns(),
                  window_.waits_since_ns(slots_[timed_.first].sent_ns) + window_.patience_ns());
}

}  // namespace tributary::in_network
