// Moves datagrams between a UDP port and the slot rules.
//
// Replies to all agents are grouped by agent, so that the kernel can cut one large message into
// many datagrams. Memory is fixed; nothing is allocated per packet. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "core/collective/in_network/slot_rules.h"
#include "core/net/udp/udp_port.h"
#include "switch_p4/switchd/group_watch.h"

namespace tributary::switchd {

class SwitchLoop {
 public:
  // `group` receives the results of all jobs, one datagram for all agents, while its path works;
  // empty: each agent gets its own.
  SwitchLoop(UdpPort& port, in_network::SlotRules& rules, UdpAddress group);

  // Handles what has arrived, up to a bound, and sends the replies. Returns the number of
  // datagrams.
  Result<std::size_t> turn();

  // How often the group's path was given up.
  std::uint64_t group_falls() const { return watch_.falls(); }

 private:
  struct Pending {
    std::size_t bytes;
    bool all;
    UdpAddress to;  // unless all
  };

  void take(ByteSpan datagram, UdpAddress from);
  void flush();
  MutableByteSpan reply(std::size_t number) {
    return {replies_.data() + number * in_network::kPacketBytesMax, in_network::kPacketBytesMax};
  }

  UdpPort& port_;
  in_network::SlotRules& rules_;
  const UdpAddress group_;
  GroupWatch watch_;
  Bytes replies_;
  std::vector<Pending> pending_;
  std::uint16_t job_ = 0;  // of the pending replies to all
  bool has_job_ = false;
};

}  // namespace tributary::switchd
