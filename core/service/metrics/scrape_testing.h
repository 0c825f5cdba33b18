// Reads a metrics endpoint on this machine over HTTP, as Prometheus does.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

namespace tributary::service_testing {

// Returns the whole response with its header; empty if nothing answers.
inline std::string scrape(std::uint16_t port, std::string_view path = "/metrics") {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    const std::string request =
        "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static_cast<void>(::send(file, request.data(), request.size(), MSG_NOSIGNAL));
    std::array<char, 4096> part{};
    for (ssize_t got = 1; got > 0;) {
      got = ::recv(file, part.data(), part.size(), 0);
      if (got > 0) answer.append(part.data(), static_cast<std::size_t>(got));
    }
  }
  ::close(file);
  return answer;
}

// Returns the value of a series such as name{label="value"}; 0 if it is missing.
inline double value_of(const std::string& answer, const std::string& series) {
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(series + " ")) return std::stod(line.substr(series.size()));
  }
  return 0;
}

}  // namespace tributary::service_testing
