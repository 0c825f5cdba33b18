#include "core/net/mesh/tcp/mesh_channel.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace tributary {
namespace {

Status socket_failed(std::string_view doing) {
  return Status(
      StatusCode::unavailable,
      {.what = std::string(doing), .expected = "an open connection", .got = std::strerror(errno)});
}

class PlainChannel final : public MeshChannel {
 public:
  explicit PlainChannel(int file) : file_(file) {}

  Result<std::size_t> read(MutableByteSpan into) override {
    const ssize_t got = ::recv(file_, into.data(), into.size(), 0);
    if (got > 0) {
      bytes_in += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::size_t{0};
    if (got < 0) return socket_failed("reading from a peer");
    return Status(StatusCode::unavailable, {.what = "reading from a peer",
                                            .expected = "a message",
                                            .got = "the end of the connection"});
  }

  Result<std::size_t> write(std::span<const iovec> from) override {
    msghdr message = {};
    message.msg_iov = const_cast<iovec*>(from.data());
    message.msg_iovlen = from.size();
    const ssize_t sent = ::sendmsg(file_, &message, MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes_out += static_cast<std::uint64_t>(sent);
      return static_cast<std::size_t>(sent);
    }
    if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
    return socket_failed("sending to a peer");
  }

 private:
  const int file_;
};

}  // namespace

std::unique_ptr<MeshChannel> plain_channel(int file) {
  return std::make_unique<PlainChannel>(file);
}

}  // namespace tributary
