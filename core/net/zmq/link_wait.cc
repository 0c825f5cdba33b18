#include "core/net/zmq/link_wait.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace tributary {
namespace {

// The waker's number among the events; the sources have the numbers before it.
constexpr std::uint64_t kWakerEvent = 2;

Status link_wait_failed(std::string what) {
  return Status(StatusCode::io_error, {.what = std::move(what),
                                       .expected = "success",
                                       .got = std::strerror(errno),
                                       .remedy = "raise the limit of open files (ulimit -n)"});
}

}  // namespace

Result<LinkWait> LinkWait::open() {
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return link_wait_failed("an epoll file");
  LinkWait wait(epoll, std::move(waker));
  TRIBUTARY_TRY(wait.add(wait.waker_.file(), kWakerEvent));
  return wait;
}

LinkWait::LinkWait(LinkWait&& other) noexcept
    : epoll_(std::exchange(other.epoll_, -1)),
      waker_(std::move(other.waker_)),
      files_(other.files_),
      unread_(other.unread_),
      woken_(other.woken_) {}

LinkWait::~LinkWait() {
  if (epoll_ >= 0) ::close(epoll_);
}

Status LinkWait::add(int file, std::uint64_t source) const {
  ::epoll_event event = {.events = EPOLLIN, .data = {.u64 = source}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, file, &event) == 0) return {};
  return link_wait_failed("a descriptor to wait for");
}

Status LinkWait::watch(Source source, int file) {
  TRIBUTARY_TRY(add(file, index(source)));
  files_[index(source)] = file;
  set_unread(source);
  return {};
}

void LinkWait::forget_sockets() {
  for (int& file : files_) {
    if (file >= 0) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, file, nullptr);
    file = -1;
  }
  unread_ = {};
}

Result<bool> LinkWait::wait(std::chrono::nanoseconds time) {
  using std::chrono::milliseconds;
  constexpr milliseconds kLongest = std::chrono::hours(1);
  // Rounded up, because a shorter wait would poll until the deadline.
  milliseconds whole = std::chrono::ceil<milliseconds>(
      std::clamp<std::chrono::nanoseconds>(time, std::chrono::nanoseconds(0), kLongest));
  if (unread_[0] || unread_[1] || woken_) whole = milliseconds(0);
  std::array<::epoll_event, kSources + 1> events;
  const int ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(whole.count()));
  if (ready < 0 && errno != EINTR) return link_wait_failed("waiting");
  for (int i = 0; i < ready; ++i) {
    const std::uint64_t source = events[static_cast<std::size_t>(i)].data.u64;
    if (source == kWakerEvent) {
      woken_ = waker_.take();
    } else {
      unread_[source] = true;
    }
  }
  return unread_[0] || unread_[1] || woken_;
}

}  // namespace tributary
