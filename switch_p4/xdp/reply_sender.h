// Sends the replies that the XDP program has handed over: results to the group or to each agent,
// and repeats to their senders.
//
// Results are grouped by agent, so that the kernel can cut one large message into many datagrams.
// Memory is fixed. Not thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "core/net/udp/udp_port.h"
#include "switch_p4/xdp/gateway.h"

namespace tributary::switch_xdp {

class ReplySender {
 public:
  // `group` gets the results of all jobs; empty: each agent gets its own.
  ReplySender(UdpPort& port, const Gateway& gateway, UdpAddress group)
      : port_(port), gateway_(gateway), group_(group), packets_(kPackets * kXdpPacketBytesMax) {
    pending_.reserve(kPackets);
  }

  // Copies a reply. The replies before it may be sent.
  void take(const XdpReply& reply);
  void flush();

 private:
  static constexpr std::size_t kPackets = 128;
  struct Pending {
    std::uint64_t to;  // 0: all
    std::uint32_t job;
    std::size_t bytes;
  };
  void send(std::size_t number, UdpAddress to);

  UdpPort& port_;
  const Gateway& gateway_;
  const UdpAddress group_;
  Bytes packets_;
  std::vector<Pending> pending_;
};

}  // namespace tributary::switch_xdp
