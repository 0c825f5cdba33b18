#include "core/net/tcp_statistics.h"

#ifdef __linux__
// <netinet/tcp.h> is not used: its tcp_info lacks the newer fields, and it conflicts with this
// header.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#endif

namespace tributary {

#ifdef __linux__
namespace {

// Returns false if the kernel does not fill the first `bytes_needed` bytes of the structure.
bool read_tcp_info(int file, std::size_t bytes_needed, tcp_info& info) {
  socklen_t bytes = sizeof(info);
  if (file < 0 || ::getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return false;
  return bytes >= bytes_needed;
}

}  // namespace

std::optional<double> tcp_round_trip_min_s(int file) {
  tcp_info info = {};
  const std::size_t needed = offsetof(tcp_info, tcpi_min_rtt) + sizeof(info.tcpi_min_rtt);
  if (!read_tcp_info(file, needed, info)) return std::nullopt;
  if (info.tcpi_min_rtt == 0 || info.tcpi_min_rtt == UINT32_MAX) return std::nullopt;
  return info.tcpi_min_rtt / 1e6;
}

std::uint64_t tcp_bytes_received(int file) {
  tcp_info info = {};
  const std::size_t needed =
      offsetof(tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received);
  return read_tcp_info(file, needed, info) ? info.tcpi_bytes_received : 0;
}
#else
std::optional<double> tcp_round_trip_min_s(int) { return std::nullopt; }
std::uint64_t tcp_bytes_received(int) { return 0; }
#endif

}  // namespace tributary
