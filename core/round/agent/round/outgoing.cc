#include "core/round/agent/round/outgoing.h"

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

// Limit for the pause between announcements of a payload, as a multiple of the first pause.
constexpr TimeNs kPausesMax = 32;

}  // namespace

// A payload whose upload began in an earlier round always waits: the coordinator has a part of it,
// and only its receipt says how much.
void Outgoing::add(Payload payload) {
  Item& item = items_.emplace_back();
  item.payload = std::move(payload);
  item.begun = item.payload.encoded_round > 0;
  if (item.begun) {
    item.state = State::outlived;
    return;
  }
  if (!called_ || item.payload.size() <= kUncalledBytesMax) return;
  item.state = State::waiting;
  item.again.start(0, 0, 0);
}

std::optional<Outgoing::Payload> Outgoing::cancel(std::uint32_t bucket, std::uint32_t stage,
                                                  const Session& session) {
  std::optional<Payload> cut_off;
  std::erase_if(items_, [&](const Item& item) {
    const bool over = item.payload.bucket == bucket && item.payload.stage <= stage;
    if (over && item.state == State::sent && !item.payload.outlives_round) {
      session.stop(item.payload);
    }
    if (over && item.begun) cut_off = item.payload;
    return over;
  });
  return cut_off;
}

void Outgoing::send(Item& item, std::uint64_t from, const Session& session) {
  session.send(item.payload, from);
  item.payload.sent_in = attempt_;
  item.state = State::sent;
  item.begun = true;
}

void Outgoing::stop_all(const Session& session) {
  for (const Item& item : items_) {
    if (item.state == State::sent) session.stop(item.payload);
  }
  items_.clear();
}

bool Outgoing::receipt(TimeNs now, TimeNs again_ns, const wire::Receipt& receipt,
                       const Session& session) {
  const auto found = std::ranges::find_if(items_, [&](const Item& item) {
    return item.payload.bucket == receipt.bucket() && item.payload.stage == receipt.stage() &&
           item.payload.segment == receipt.segment();
  });
  if (found == items_.end()) return false;
  if (receipt.received_bytes() >= found->payload.size()) {
    session.stop(found->payload);
    items_.erase(found);
    // The first announcement after such a refusal waits longer than usual, since the memory is
    // freed by other agents' uploads. The coordinator also calls as soon as it has memory.
  } else if (receipt.payloads_in_flight_max() == 0) {  // the coordinator has no memory for it
    session.stop(found->payload);
    found->state = State::waiting;
    found->again.start(now, 8 * again_ns, 16 * again_ns);
  } else if (!session.sending(found->payload)) {
    send(*found, receipt.received_bytes(), session);
    found->again.stop();
  }
  return true;
}

// Fresh payloads are sent as they are: nothing of them has ever left this agent.
void Outgoing::reconnected() {
  for (Item& item : items_) {
    if (item.state == State::fresh) continue;
    item.state = State::waiting;
    item.again.start(0, 0, 0);
  }
}

void Outgoing::pump(TimeNs now, TimeNs again_ns, const Session& session) {
  announce_outlived(session);
  for (Item& item : items_) {
    if (item.state == State::fresh) {
      send(item, 0, session);
    } else if (item.state == State::sent) {
      // If the session has sent everything, a receipt is overdue.
      if (session.sending(item.payload)) {
        item.again.stop();
      } else if (!item.again.running()) {
        item.again.start(now, again_ns, 2 * again_ns);
      }
    }
    if (!item.again.due(now)) continue;
    session.announce(item.payload);
    item.again.repeat(now, again_ns, kPausesMax * again_ns);
  }
}

// Together, so that all of them count in the same round.
void Outgoing::announce_outlived(const Session& session) {
  const bool some_sending = std::ranges::any_of(items_, [&](const Item& item) {
    return item.state == State::outlived && session.sending(item.payload);
  });
  if (some_sending) return;
  for (Item& item : items_) {
    if (item.state != State::outlived) continue;
    item.state = State::waiting;
    item.again.start(0, 0, 0);
  }
}

TimeNs Outgoing::next_due_ns() const {
  TimeNs due = kNever;
  for (const Item& item : items_) due = std::min(due, item.again.due_at_ns());
  return due;
}

std::uint64_t Outgoing::bytes() const {
  std::uint64_t bytes = 0;
  for (const Item& item : items_) bytes += item.payload.size();
  return bytes;
}

}  // namespace tributary
