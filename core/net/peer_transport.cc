#include "core/net/peer_transport.h"

#include <fmt/format.h>

#include <utility>

namespace tributary {

// Refuses before anything is queued, so that a refused message leaves no trace and may be sent
// again.
Status PeerTransport::check(ConnectionId to, std::size_t frame_bytes,
                            std::size_t payload_bytes) const {
  TRIBUTARY_TRY(check_send(*this, to, frame_bytes, payload_bytes));
  if (lost_[to]) return member_lost(to);
  return check_queue_bound({.queue = fmt::format("send queue of member {}", to),
                            .waiting_bytes = waiting_bytes_for(to),
                            .bytes_max = limits_.send_queue_bytes},
                           frame_bytes + payload_bytes + overhead_bytes_);
}

Status PeerTransport::send(ConnectionId to, SharedSlice frame, SharedSlice payload) {
  if (Status status = check(to, frame.size(), payload.size()); !status.ok()) {
    ++counters_.sends_refused;
    return status;
  }
  ++counters_.messages_out;
  counters_.bytes_out += frame.size() + payload.size();
  return accept(static_cast<std::uint32_t>(to), std::move(frame), std::move(payload));
}

std::size_t PeerTransport::waiting_bytes() const {
  std::size_t bytes = 0;
  for (std::uint32_t member = 0; member < members_.count; ++member) {
    if (member != members_.own_rank) bytes += waiting_bytes_for(member);
  }
  return bytes;
}

void PeerTransport::report(Received received) {
  ++counters_.messages_in;
  counters_.bytes_in += received.frame.size() + received.payload.size();
  events_.emplace_back(std::move(received));
}

// A lost member stays lost for the life of the transport: a connection that came back could have
// missed messages.
void PeerTransport::report_lost(std::uint32_t member, const PublicKey& key, Status why,
                                std::size_t unsent_bytes) {
  lost_[member] = true;
  events_.emplace_back(Disconnected{.connection = member,
                                    .peer = key,
                                    .why = std::move(why).at(fmt::format("member {}", member)),
                                    .unsent_bytes = unsent_bytes});
}

void PeerTransport::report_refused(std::string source, Status why) {
  constexpr RefusalReason kReason = RefusalReason::failed_handshake;
  counters_.refuse(kReason);
  events_.emplace_back(
      Refused{.reason = kReason, .source = std::move(source), .why = std::move(why)});
}

LinkEvent PeerTransport::next_event() {
  LinkEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace tributary
