// Faults of the connections between agents in a test: breaks, and changes of messages.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "core/round/common/machine/actions.h"
#include "core/sim/machines/peer_network.h"
#include "core/sim/scenario/draws.h"

namespace tributary::sim_testing {

class PeerFaults {
 public:
  PeerFaults(PeerNetwork& network, std::uint64_t seed)
      : network_(network), draws_(seed, DrawUse::hostile, 1) {}

  double breaks = 0;  // probability that a connection breaks at a message
  // May change a message.
  std::function<void(std::uint32_t from, std::uint32_t to, Bytes& frame, Bytes& payload)> twist;
  std::uint64_t messages = 0;  // sent so far

  // Breaks a connection and informs both ends.
  void cut(std::uint32_t one, std::uint32_t other) { network_.break_between(one, other); }

  // Agents call it before each message.
  void sending(std::uint32_t from, SendToPeer& send) {
    const auto to = network_.agent_of(from, send.member);
    if (!to) return;
    ++messages;
    if (twist) {
      const ByteSpan bytes = send.payload.view();
      Bytes payload(bytes.begin(), bytes.end());
      twist(from, *to, send.frame, payload);
      send.payload = SharedSlice(std::move(payload));
    }
    if (draws_.chance(breaks)) cut(from, *to);
  }

 private:
  PeerNetwork& network_;
  SeededDraws draws_;
};

}  // namespace tributary::sim_testing
