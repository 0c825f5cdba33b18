// TCP helpers for tests that speak TCP themselves.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace tributary::end_to_end {

// Returns the port of an endpoint such as tcp://127.0.0.1:4640.
inline std::uint16_t port_of(const std::string& endpoint) {
  return static_cast<std::uint16_t>(std::stoul(endpoint.substr(endpoint.rfind(':') + 1)));
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Returns a connected socket, or -1 if the connection was refused.
inline int dial(std::uint16_t port) {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return file;
  }
  ::close(file);
  return -1;
}

}  // namespace tributary::end_to_end
