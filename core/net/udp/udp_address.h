// An IPv4 address and a port. Pure values; parsing never asks a name server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

struct UdpAddress {
  std::uint32_t ip = 0;  // in the machine's order: 127.0.0.1 is 0x7f000001
  std::uint16_t port = 0;

  // Reads "127.0.0.1:4650". Returns invalid_argument for any other text.
  static Result<UdpAddress> parse(std::string_view text);
  // Both as one number; 0 only for the empty address.
  static UdpAddress of_number(std::uint64_t number) {
    return {.ip = static_cast<std::uint32_t>(number >> 16),
            .port = static_cast<std::uint16_t>(number & 0xffff)};
  }
  std::uint64_t number() const { return std::uint64_t{ip} << 16 | port; }
  bool is_multicast() const { return ip >> 28 == 14; }  // 224.0.0.0/4
  std::string text() const;

  friend bool operator==(const UdpAddress&, const UdpAddress&) = default;
};

}  // namespace tributary
