// Addresses for tests whose programs open the port themselves.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "core/net/udp/udp_address.h"

namespace tributary::net_testing {

// An address on loopback that no other process uses. A port that was free a moment ago may be
// another test's when the program under test opens it, so each process takes an IP address of its
// own from 127.0.0.0/8.
inline UdpAddress address_of_own() {
  static std::uint16_t port = 20'000;
  const auto process = static_cast<std::uint32_t>(::getpid());
  // 127.64.0.0 to 127.127.255.255, apart from 127.0.0.1.
  return {.ip = 0x7f400000u | (process & 0x3fffffu), .port = port++};
}

}  // namespace tributary::net_testing
