#include "core/net/mesh/tcp/mesh_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/net/mesh/tcp/mesh.h"

namespace tributary {
namespace {

// Connections that the kernel keeps until they are accepted. All members of an epoch may connect at
// the same moment.
constexpr int kBacklog = 128;

// Also an IPv4 wildcard that is written as an IPv6 address.
bool is_any_address(const Address& address) {
  if (address.storage.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr.s_addr == INADDR_ANY;
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr;
  if (IN6_IS_ADDR_UNSPECIFIED(&v6)) return true;
  return IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr32[3] == INADDR_ANY;
}

}  // namespace

Status os_failed(std::string what) {
  return Status(StatusCode::io_error,
                {.what = std::move(what), .expected = "success", .got = std::strerror(errno)});
}

File::~File() {
  if (file_ >= 0) ::close(file_);
}

Result<Address> parse_address(const std::string& endpoint) {
  const Status bad(StatusCode::invalid_argument,
                   {.what = "a peer's address",
                    .expected = "tcp://ADDRESS:PORT, the address a number",
                    .got = endpoint,
                    .remedy = "as in tcp://192.0.2.7:4650 or tcp://[2001:db8::7]:4650"});
  constexpr std::string_view kTcpScheme = "tcp://";
  const std::size_t colon = endpoint.rfind(':');
  if (!endpoint.starts_with(kTcpScheme) || colon < kTcpScheme.size()) return bad;
  std::string host = endpoint.substr(kTcpScheme.size(), colon - kTcpScheme.size());
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  // No name is looked up: a lookup may block for seconds, and this runs on the link's thread.
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = endpoint.substr(colon + 1);
  if (host.empty() || port.empty() ||
      getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    return bad;
  }
  Address address;
  address.bytes = found->ai_addrlen;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return address;
}

std::string text_of(const Address& address) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(address.get(), address.bytes, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "tcp://?";
  }
  const bool v6 = address.storage.ss_family == AF_INET6;
  return fmt::format("tcp://{}{}{}:{}", v6 ? "[" : "", host.data(), v6 ? "]" : "", port.data());
}

Status check_mesh_address(const std::string& endpoint, MeshAddressUse use) {
  TRIBUTARY_ASSIGN(const Address address, parse_address(endpoint));
  const auto useless = [&](std::string expected, std::string remedy) {
    return Status(StatusCode::invalid_argument,
                  {.what = "a peer's address, for others to connect to",
                   .expected = std::move(expected),
                   .got = endpoint,
                   .remedy = std::move(remedy)});
  };
  if (use != MeshAddressUse::listen && is_any_address(address)) {
    return useless("one address of a machine",
                   "name this machine's address on the LAN, as tcp://192.0.2.7:4650");
  }
  if (use == MeshAddressUse::advertise && text_of(address).ends_with(":0")) {
    return useless("a port", "name the one that leads to this machine");
  }
  return {};
}

Result<std::unique_ptr<MeshPort>> MeshPort::open(const std::string& endpoint) {
  TRIBUTARY_ASSIGN(Address address, parse_address(endpoint));
  File file(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!file) return os_failed("opening a port for peers");
  const int on = 1;
  // Lets a restarted agent listen at once, while old connections are still in TIME_WAIT.
  setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(file.get(), address.get(), address.bytes) != 0 ||
      ::listen(file.get(), kBacklog) != 0) {
    return os_failed(fmt::format("opening {} for peers", endpoint));
  }
  // The bound address has the port that the kernel picked if the endpoint has port 0.
  address.bytes = sizeof(address.storage);
  if (::getsockname(file.get(), address.get(), &address.bytes) != 0) {
    return os_failed("asking for a port's address");
  }
  return std::unique_ptr<MeshPort>(new MeshPort(file.release(), text_of(address)));
}

MeshPort::~MeshPort() { ::close(file_); }

}  // namespace tributary
