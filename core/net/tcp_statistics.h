// Statistics that the kernel keeps about a TCP connection. Each function takes the connection's
// file descriptor. A closed descriptor or one that is not a TCP connection is not an error. Cost:
// one system call.
#pragma once

#include <cstdint>
#include <optional>

namespace tributary {

// The minimum round-trip time of the connection over the last minutes, in seconds. The kernel
// measures it in the handshake and with every segment that its acknowledgement identifies. The
// minimum is used because delayed acknowledgements and queues lengthen most measurements. Empty if
// the kernel does not know it or on other systems than Linux.
std::optional<double> tcp_round_trip_min_s(int file);

// The number of bytes that the kernel has received on the connection in order, whether they were
// read or not. 0 if it does not know, or on other systems than Linux.
std::uint64_t tcp_bytes_received(int file);

}  // namespace tributary
