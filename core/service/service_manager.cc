#include "core/service/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace tributary {
namespace {

Status failed(std::string expected, std::string got) {
  return Status(StatusCode::io_error, {.what = "NOTIFY_SOCKET",
                                       .expected = std::move(expected),
                                       .got = std::move(got),
                                       .remedy = "see systemd's sd_notify(3)"});
}

}  // namespace

Status notify_service_manager(std::string_view state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path == '\0') return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  if ((*path != '/' && *path != '@') || length >= sizeof(address.sun_path)) {
    return failed("the path of a socket", path);
  }
  std::memcpy(address.sun_path, path, length);
  if (*path == '@') address.sun_path[0] = '\0';  // an abstract name, without a file
  const int file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return failed("a socket", std::generic_category().message(errno));
  const auto address_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  const ssize_t sent = ::sendto(file, state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), address_bytes);
  const int error = errno;
  ::close(file);
  if (sent < 0) return failed("a reader", std::generic_category().message(error));
  return {};
}

}  // namespace tributary
