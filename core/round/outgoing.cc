#include "core/round/outgoing.h"

#include <algorithm>
#include <utility>

namespace tributary {

void Outgoing::add(std::uint32_t bucket, std::uint32_t stage, CutPayload payload) {
  Item item;
  item.bucket = bucket;
  item.stage = stage;
  item.payload = std::move(payload);
  if (called_ && item.payload.layout().bytes > kUncalledBytesMax) {
    item.held = true;
    item.again_at_ns = 0;
  }
  items_.push_back(std::move(item));
}

void Outgoing::cancel(std::uint32_t bucket, std::uint32_t stage) {
  std::erase_if(items_,
                [&](const Item& item) { return item.bucket == bucket && item.stage <= stage; });
}

void Outgoing::receipt(TimeNs now, TimeNs again_ns, const wire::Receipt& receipt) {
  const auto found = std::ranges::find_if(items_, [&](const Item& item) {
    return item.bucket == receipt.bucket() && item.stage == receipt.stage();
  });
  if (found == items_.end()) return;
  Item& item = *found;
  if (receipt.parts_received() >= item.payload.parts()) {
    items_.erase(found);
    set_window(receipt.payloads_in_flight_max());
    return;
  }
  item.held = receipt.payloads_in_flight_max() == 0;
  if (!item.held) set_window(receipt.payloads_in_flight_max());
  item.confirmed = receipt.parts_received();
  if (item.confirmed == 0 && receipt.payloads_in_flight_max() != 0 && receipt.missing() &&
      receipt.missing()->size() > 0) {
    item.next = 0;  // called: from the start
  }
  item.repeat.clear();
  for (std::uint32_t i = 0; receipt.missing() && i < receipt.missing()->size(); ++i) {
    const wire::Range& range = *receipt.missing()->Get(i);
    const std::uint64_t end =
        std::min<std::uint64_t>(std::uint64_t{range.first()} + range.count(), item.next);
    for (std::uint32_t part = range.first(); part < end; ++part) item.repeat.push_back(part);
  }
  item.wait_ns = item.held ? 8 * again_ns : again_ns;
  item.again_at_ns = now + item.wait_ns;
}

std::uint64_t Outgoing::in_flight_bytes() const {
  std::uint64_t bytes = 0;
  for (const Item& item : items_) {
    if (item.held || item.next <= item.confirmed) continue;
    const std::uint64_t parts = item.next - item.confirmed;
    bytes += std::min(parts * item.payload.layout().part_bytes, item.payload.layout().bytes);
  }
  return bytes;
}

void Outgoing::pump(TimeNs now, TimeNs again_ns, const Emit& emit, const Announce& announce) {
  std::uint64_t in_flight = in_flight_bytes();
  for (Item& item : items_) {
    const PartLayout& layout = item.payload.layout();
    const std::uint64_t budget = std::uint64_t{window_} * layout.part_bytes;
    for (const std::uint32_t part : std::exchange(item.repeat, {})) {
      emit(item.bucket, item.stage, item.payload, part);
    }
    if (item.again_at_ns <= now) {
      // The first part again: what comes back says what is missing.
      if (item.held) {
        announce(item.bucket, item.stage, item.payload);
      } else {
        emit(item.bucket, item.stage, item.payload, 0);
      }
      const TimeNs longest = item.held ? 8 * again_ns : 32 * again_ns;
      item.wait_ns = std::clamp(item.wait_ns * 2, again_ns, longest);
      item.again_at_ns = now + item.wait_ns;
    }
    while (!item.held && item.next < item.payload.parts()) {
      const std::uint32_t size = layout.size(item.next);
      if (in_flight > 0 && in_flight + size > budget) break;
      emit(item.bucket, item.stage, item.payload, item.next);
      ++item.next;
      in_flight += size;
      item.wait_ns = again_ns;
      item.again_at_ns = now + again_ns;
    }
  }
}

TimeNs Outgoing::next_due_ns() const {
  TimeNs due = kNever;
  for (const Item& item : items_) due = std::min(due, item.again_at_ns);
  return due;
}

std::uint64_t Outgoing::bytes() const {
  std::uint64_t bytes = 0;
  for (const Item& item : items_) bytes += item.payload.layout().bytes;
  return bytes;
}

}  // namespace tributary
