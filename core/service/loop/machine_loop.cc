#include "core/service/loop/machine_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/overloaded.h"

namespace tributary {

// Order of a turn: posted events, liveness of peers, the machine's tick, waiting messages, and then
// one event of the link.
Result<bool> MachineLoop::turn(TimeNs deadline) {
  if (post_dropped_) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "posted events of the loop",
                   .expected = fmt::format("at most {}", parts_.posted_max),
                   .got = "one more",
                   .remedy = "restart the process; its state is in its journal"});
  }
  bool anything = take_posted();
  if (look_at_arrivals()) anything = true;  // before a tick, which could report the peer as silent
  if (now() >= parts_.next_wakeup_ns()) {
    feed(Tick{});
    anything = true;
  }
  send_waiting();
  TimeNs due = std::min(deadline, next_due_ns());
  if (anything) due = std::min(due, now());  // do not wait; report that something happened
  // An event that is already waiting may have arrived at any time, so its time is not measured. An
  // event that is waited for arrives now. The first receive() also consumes the wake() of events
  // that were posted meanwhile.
  const TimeNs look_at = std::min(due, now());
  TRIBUTARY_ASSIGN(std::optional<LinkEvent> event,
                   parts_.link.receive(std::chrono::nanoseconds(look_at)));
  const bool waited_for = !event && due > look_at && !any_posted_;
  if (waited_for) {
    TRIBUTARY_ASSIGN(event, parts_.link.receive(std::chrono::nanoseconds(due)));
  }
  if (event) take(*event, waited_for);
  return anything || event.has_value();
}

TimeNs MachineLoop::next_due_ns() const {
  TimeNs due = parts_.next_wakeup_ns();
  if (!waiting_.empty()) due = std::min(due, now() + kTryAgainNs);
  if (!arrivals_.empty()) due = std::min(due, next_look_);
  return due;
}

void MachineLoop::feed(Event event) {
  for (Action& action : parts_.handle(now(), std::move(event))) execute(action);
}

void MachineLoop::post(Event event, std::shared_ptr<const void> owner) {
  {
    const std::lock_guard lock(mutex_);
    if (posted_.size() >= parts_.posted_max) {
      post_dropped_ = true;
    } else {
      posted_.push_back({.event = std::move(event), .owner = std::move(owner)});
      any_posted_ = true;
    }
  }
  parts_.link.wake();
}

// The lock is released before the events are handled, because their actions may post again.
bool MachineLoop::take_posted() {
  if (!any_posted_) return false;
  std::vector<Posted> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
    any_posted_ = false;
  }
  for (Posted& event : posted) {
    feed(std::move(event.event));
    event.owner.reset();
  }
  return true;
}

// Returns true if any peer has sent bytes.
bool MachineLoop::look_at_arrivals() {
  if (arrivals_.empty() || now() < next_look_) return false;
  next_look_ = now() + kLookEveryNs;
  std::vector<ConnectionId> alive;
  for (auto& [connection, arrivals] : arrivals_) {
    if (std::exchange(arrivals.message_arrived, false)) {
      arrivals.bytes.reset();
      continue;
    }
    // The first reading only sets the start; the second one can show progress.
    const std::uint64_t bytes = parts_.link.bytes_arrived(connection);
    if (arrivals.bytes && bytes > *arrivals.bytes) alive.push_back(connection);
    arrivals.bytes = bytes;
  }
  for (const ConnectionId connection : alive) {
    // The machine may have closed the connection while it handled another peer's event.
    if (arrivals_.contains(connection)) feed(PeerAlive{.peer = connection});
  }
  return !alive.empty();
}

// Translates link events into events of the machine.
void MachineLoop::take(LinkEvent& event, bool waited_for) {
  std::visit(Overloaded{
                 [this](const Connected& connected) {
                   connection_ = connected.connection;
                   // An agent has only one connection at a time.
                   if (parts_.one_peer) arrivals_.clear();
                   arrivals_[connection_] = {};
                   feed(PeerConnected{.peer = connected.connection});
                 },
                 [this](const Disconnected& gone) {
                   waiting_.erase(gone.connection);
                   arrivals_.erase(gone.connection);
                   parts_.notes.note({.level = LogLevel::info,
                                      .name = "disconnected",
                                      .source = parts_.id_of ? parts_.id_of(gone.peer) : "",
                                      .text = gone.why.text()});
                   feed(PeerDisconnected{.peer = gone.connection});
                 },
                 [this, waited_for](const Received& received) {
                   arrivals_[received.connection].message_arrived = true;
                   const std::string id = parts_.id_of ? parts_.id_of(received.peer) : "";
                   const bool encrypted = parts_.link.encrypted();
                   feed(FrameReceived{
                       .peer = received.connection,
                       .frame = received.frame,
                       .payload = received.payload.view(),
                       .authenticated_as = id,
                       .authenticated_key = encrypted ? ByteSpan(received.peer.bytes) : ByteSpan(),
                       .waited_for = waited_for});
                 },
                 [this](const Refused& refused) { parts_.notes.refused(refused); },
                 [this](const Unreachable& unreachable) {
                   parts_.notes.note({.level = LogLevel::warning,
                                      .name = "unreachable",
                                      .reason = name(unreachable.why.code()),
                                      .source = "coordinator",
                                      .text = unreachable.why.text()});
                 },
             },
             event);
}

// The daemon has a handler for each other action.
void MachineLoop::execute(Action& action) {
  std::visit(Overloaded{
                 [this](Send& message) { send(message); },
                 [this](Note& note) { parts_.notes.note(note); },
                 [this](ClosePeer& close) {
                   const PeerId peer = parts_.one_peer ? connection_ : close.peer;
                   waiting_.erase(peer);
                   arrivals_.erase(peer);
                   parts_.link.give_up(peer);
                 },
                 [&](auto&) { parts_.execute(action); },
             },
             action);
}

// Keeps the order: a message behind one that waits must wait too.
void MachineLoop::send(Send& message) {
  if (parts_.one_peer) message.peer = connection_;
  const auto found = waiting_.find(message.peer);
  if (found == waiting_.end()) {
    const PeerId peer = message.peer;
    if (!send_now(message)) waiting_[peer].push_back(std::move(message));
    return;
  }
  if (found->second.size() >= kWaitingMax) {
    ++sends_dropped_;
    return;
  }
  found->second.push_back(std::move(message));
}

// Returns false if the queue has no room; the message is then unchanged.
bool MachineLoop::send_now(Send& message) {
  const auto frame = std::make_shared<const Bytes>(std::move(message.frame));
  const SharedSlice payload = message.has_payload ? shared_slice(message.payload) : SharedSlice();
  const Status status = parts_.link.send(message.peer, {frame, *frame}, payload);
  if (status.ok()) return true;
  if (status.code() == StatusCode::resource_exhausted) {
    message.frame = *frame;
    return false;
  }
  ++sends_dropped_;  // the connection has ended, which the link reports
  return true;
}

// Tries the queues of all connections; each keeps its order.
void MachineLoop::send_waiting() {
  for (auto queue = waiting_.begin(); queue != waiting_.end();) {
    std::deque<Send>& messages = queue->second;
    while (!messages.empty() && send_now(messages.front())) messages.pop_front();
    queue = messages.empty() ? waiting_.erase(queue) : std::next(queue);
  }
}

}  // namespace tributary
