// What the kernel knows of a TCP connection. Each function takes the connection's file descriptor;
// one that is closed, or no TCP connection, is not an error. Cost: one system call.
#pragma once

#include <cstdint>
#include <optional>

namespace tributary {

// The quickest round trip that the kernel has seen on the connection, in seconds: of the handshake,
// and of every segment whose acknowledgement says which one it was, within some minutes. Delayed
// acknowledgements and queues are in most of them, and not in the quickest. Nothing where the
// kernel does not know, or this is no Linux.
std::optional<double> tcp_round_trip_min_s(int file);

// Bytes that the kernel has received on the connection in order, read or not. 0 where it does not
// know, or this is no Linux.
std::uint64_t tcp_bytes_received(int file);

}  // namespace tributary
