#include "core/link/tcp_round_trip.h"

#ifdef __linux__
// Not <netinet/tcp.h>: its tcp_info ends before what is asked for here, and the two do not mix.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#endif

namespace tributary {

#ifdef __linux__
std::optional<double> tcp_round_trip_min_s(int file) {
  tcp_info info = {};
  socklen_t bytes = sizeof(info);
  if (::getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return std::nullopt;
  if (bytes < offsetof(tcp_info, tcpi_min_rtt) + sizeof(info.tcpi_min_rtt)) return std::nullopt;
  if (info.tcpi_min_rtt == 0 || info.tcpi_min_rtt == UINT32_MAX) return std::nullopt;
  return info.tcpi_min_rtt / 1e6;
}
#else
std::optional<double> tcp_round_trip_min_s(int) { return std::nullopt; }
#endif

}  // namespace tributary
