#include "core/net/mesh/tcp/mesh_poll.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tributary {
namespace {

constexpr std::size_t kEventsAtOnce = 64;
constexpr std::int64_t kWaitMsMax = 60'000;

}  // namespace

Result<MeshPoll> MeshPoll::open() {
  File epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return os_failed("opening a mesh");
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  // The waker is the only socket without a target.
  epoll_event event = {.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, waker.file(), &event) != 0) {
    return os_failed("watching a socket");
  }
  return MeshPoll(std::move(epoll), std::move(waker));
}

Status MeshPoll::watch(int file, PollTarget& target, std::uint32_t events) const {
  if (target.watched == events) return {};
  epoll_event event = {.events = events, .data = {.ptr = &target}};
  const int operation = target.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(epoll_.get(), operation, file, &event) != 0) return os_failed("watching a socket");
  target.watched = events;
  return {};
}

Result<bool> MeshPoll::wait(std::chrono::nanoseconds time) {
  std::array<epoll_event, kEventsAtOnce> ready{};
  const auto wait_ms = std::clamp<std::int64_t>(
      std::chrono::ceil<std::chrono::milliseconds>(time).count(), 0, kWaitMsMax);
  const int count =
      epoll_wait(epoll_.get(), ready.data(), kEventsAtOnce, static_cast<int>(wait_ms));
  if (count < 0 && errno != EINTR) return os_failed("waiting for peers");
  buried_.clear();
  bool woken = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    auto* const target = static_cast<PollTarget*>(event.data.ptr);
    if (target == nullptr) {
      woken = waker_.take();
    } else if (!target->buried) {
      target->ready(event.events);
    }
  }
  return woken;
}

void MeshPoll::bury(std::unique_ptr<PollTarget> target) {
  target->buried = true;
  buried_.push_back(std::move(target));
}

}  // namespace tributary
