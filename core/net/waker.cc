#include "core/net/waker.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tributary {

Result<Waker> Waker::open() {
  const int file = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (file >= 0) return Waker(file);
  return Status(StatusCode::io_error, {.what = "an event file",
                                       .expected = "a file from the system",
                                       .got = std::strerror(errno),
                                       .remedy = "raise the limit of open files (ulimit -n)"});
}

Waker::~Waker() {
  if (file_ >= 0) ::close(file_);
}

void Waker::signal() const {
  const std::uint64_t one = 1;
  // The write fails only after 2^64 - 1 unread signals, and then the file is readable anyway.
  [[maybe_unused]] const ssize_t written = ::write(file_, &one, sizeof(one));
}

bool Waker::take() const {
  std::uint64_t count = 0;
  return ::read(file_, &count, sizeof(count)) == sizeof(count);
}

void Waker::wait(std::chrono::nanoseconds time) const {
  using std::chrono::milliseconds;
  constexpr milliseconds kLongest = std::chrono::minutes(1);
  const milliseconds whole = std::chrono::ceil<milliseconds>(
      std::clamp<std::chrono::nanoseconds>(time, std::chrono::nanoseconds(0), kLongest));
  ::pollfd watched = {.fd = file_, .events = POLLIN, .revents = 0};
  ::poll(&watched, 1, static_cast<int>(whole.count()));
}

}  // namespace tributary
