#include "tools/load/wait_set.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace tributary {
namespace {

// Members beyond this number are returned by the next wait.
constexpr std::size_t kReadyFilesMax = 256;

Status epoll_failed(std::string what) {
  return Status(StatusCode::io_error, {.what = std::move(what),
                                       .expected = "success",
                                       .got = std::strerror(errno),
                                       .remedy = "raise the limit of open files (ulimit -n)"});
}

}  // namespace

Result<WaitSet> WaitSet::open() {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return epoll_failed("an epoll file");
  return WaitSet(epoll);
}

WaitSet::~WaitSet() {
  if (epoll_ >= 0) ::close(epoll_);
}

// The kernel removes a descriptor that is closed, and its number may belong to another member now.
void WaitSet::forget(std::size_t member) {
  for (const int file : members_[member]) {
    const auto owner = owners_.find(file);
    if (owner == owners_.end() || owner->second != member) continue;
    owners_.erase(owner);
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, file, nullptr);  // fails if the descriptor is closed
  }
  members_[member].clear();
}

Status WaitSet::watch(std::size_t member, std::span<const int> files) {
  if (member >= members_.size()) members_.resize(member + 1);
  if (std::ranges::equal(members_[member], files)) return {};
  forget(member);
  for (const int file : files) {
    owners_[file] = member;
    members_[member].push_back(file);
    ::epoll_event event = {.events = EPOLLIN, .data = {.fd = file}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, file, &event) == 0) continue;
    // Another member has closed a descriptor of this number and has not called watch() since.
    if (errno != EEXIST || ::epoll_ctl(epoll_, EPOLL_CTL_MOD, file, &event) != 0) {
      return epoll_failed("a descriptor to wait for");
    }
  }
  return {};
}

// The time is rounded up to whole milliseconds, so that a shorter wait does not poll.
Result<std::vector<std::size_t>> WaitSet::wait(std::chrono::nanoseconds time) {
  using std::chrono::milliseconds;
  constexpr milliseconds kLongest = std::chrono::minutes(1);
  const milliseconds whole = std::chrono::ceil<milliseconds>(
      std::clamp<std::chrono::nanoseconds>(time, std::chrono::nanoseconds(0), kLongest));
  std::array<::epoll_event, kReadyFilesMax> events;
  const int ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(whole.count()));
  if (ready < 0 && errno != EINTR) return epoll_failed("waiting");
  std::vector<std::size_t> members;
  for (int i = 0; i < ready; ++i) {
    const auto owner = owners_.find(events[static_cast<std::size_t>(i)].data.fd);
    if (owner != owners_.end()) members.push_back(owner->second);
  }
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

}  // namespace tributary
