#include "core/net/udp/udp_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>

namespace tributary {

Result<UdpAddress> UdpAddress::parse(std::string_view text) {
  const Status bad(StatusCode::invalid_argument, {.what = "a UDP address",
                                                  .expected = "IPv4:PORT, as 192.168.1.5:4650",
                                                  .got = fmt::format("'{}'", text)});
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad;
  const std::string_view digits = text.substr(colon + 1);
  UdpAddress address;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || end != digits.data() + digits.size()) return bad;
  in_addr ip = {};
  if (::inet_pton(AF_INET, std::string(text.substr(0, colon)).c_str(), &ip) != 1) return bad;
  address.ip = ntohl(ip.s_addr);
  return address;
}

std::string UdpAddress::text() const {
  return fmt::format("{}.{}.{}.{}:{}", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255, port);
}

}  // namespace tributary
