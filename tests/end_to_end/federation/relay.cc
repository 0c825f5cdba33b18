#include "tests/end_to_end/federation/relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/end_to_end/federation/tcp.h"

namespace tributary::end_to_end {
namespace {

// Bytes that the relay holds per direction; beyond them TCP blocks the sender.
constexpr std::size_t kPipeBytesMax = 64 << 10;
// The same on a limited uplink.
constexpr std::size_t kLimitedBytesMax = 1 << 10;
constexpr int kPollMsMax = 1'000;

}  // namespace

Relay::Relay(const std::string& target)
    : target_port_(port_of(target)), changed_(Waker::open().value()) {
  listen();
  thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.signal();
  thread_.join();
  for (Pair& pair : pairs_) end(pair);
  if (listener_ >= 0) ::close(listener_);
}

std::string Relay::endpoint() const { return "tcp://127.0.0.1:" + std::to_string(port_); }

std::uint64_t Relay::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

std::uint64_t Relay::bytes_up() const {
  const std::lock_guard lock(mutex_);
  return bytes_from_[kCaller];
}

std::uint64_t Relay::bytes_down() const {
  const std::lock_guard lock(mutex_);
  return bytes_from_[kTarget];
}

// The first call chooses a port; later calls use the same one.
void Relay::listen() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address = loopback(port_);
  ASSERT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(listener_, 64), 0);
  socklen_t size = sizeof(address);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
}

void Relay::swallow() {
  const std::lock_guard lock(mutex_);
  up_ = down_ = false;
  changed_.signal();
}

void Relay::drop_uplink() {
  const std::lock_guard lock(mutex_);
  up_ = false;
  changed_.signal();
}

void Relay::drop_downlink() {
  const std::lock_guard lock(mutex_);
  down_ = false;
  changed_.signal();
}

void Relay::limit_uplinks(double bytes_per_s) {
  const std::lock_guard lock(mutex_);
  uplink_bytes_per_s_ = bytes_per_s;
  changed_.signal();
}

// A link that is never idle goes on from where it was, however late the relay is.
void Relay::delay(Pipe& pipe) const {
  const Time now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> takes(static_cast<double>(pipe.waiting.size()) /
                                            uplink_bytes_per_s_);
  pipe.due = (pipe.idle ? now : pipe.due) + std::chrono::duration_cast<Time::duration>(takes);
  pipe.idle = false;
}

void Relay::refuse() {
  const std::lock_guard lock(mutex_);
  if (listener_ >= 0) ::close(std::exchange(listener_, -1));
  for (Pair& pair : pairs_) pair.over = true;
  changed_.signal();
}

void Relay::heal(bool forget) {
  const std::lock_guard lock(mutex_);
  up_ = down_ = true;
  if (listener_ < 0) listen();
  for (Pair& pair : pairs_) pair.forgotten |= forget;
  changed_.signal();
}

void Relay::reset(int& file) {
  if (file < 0) return;
  // Linger 0 makes close() send a reset instead of a regular end.
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(file, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  ::close(std::exchange(file, -1));
}

void Relay::end(Pair& pair) {
  for (int& file : pair.files) reset(file);
}

void Relay::accept() {
  const int caller = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (caller < 0) return;
  ++connections_;
  const int target = dial(target_port_);
  if (target < 0) {
    ::close(caller);
    return;
  }
  ::fcntl(target, F_SETFL, O_NONBLOCK);
  pairs_.emplace_back().files = {caller, target};
}

// Forwards the data of one side to the other, as far as that side accepts it.
void Relay::pump(Pair& pair, Side from) {
  const Side to = from == kCaller ? kTarget : kCaller;
  Pipe& pipe = pair.to[to];
  if (pipe.empty()) {
    pipe.waiting.resize(limited(from) ? kLimitedBytesMax : kPipeBytesMax);
    const ssize_t got = ::recv(pair.files[from], pipe.waiting.data(), pipe.waiting.size(), 0);
    pipe.waiting.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    pipe.sent = 0;
    bytes_from_[from] += pipe.waiting.size();
    if (got == 0 || (got < 0 && errno != EAGAIN)) pair.over = true;
    if (pipe.empty()) pipe.idle = true;
    if (!pipe.empty() && limited(from)) delay(pipe);
  }
  if (pipe.empty() || (limited(from) && std::chrono::steady_clock::now() < pipe.due)) return;
  const ssize_t put = ::send(pair.files[to], pipe.waiting.data() + pipe.sent,
                             pipe.waiting.size() - pipe.sent, MSG_NOSIGNAL);
  if (put < 0 && errno != EAGAIN) pair.over = true;
  if (put > 0) pipe.sent += static_cast<std::size_t>(put);
}

void Relay::run() {
  while (true) {
    std::vector<pollfd> files = {{.fd = changed_.file(), .events = POLLIN, .revents = 0}};
    int wait_ms = kPollMsMax;
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      std::erase_if(pairs_, [](Pair& pair) {
        if (pair.over && !pair.forgotten) end(pair);
        if (pair.forgotten) reset(pair.files[kCaller]);
        return pair.files[kTarget] < 0;
      });
      // While both directions are blocked nothing is accepted, but the kernel still completes
      // connections.
      if (up_ || down_) files.push_back({.fd = listener_, .events = POLLIN, .revents = 0});
      for (Pair& pair : pairs_) {
        if (pair.forgotten) continue;
        for (const Side from : {kCaller, kTarget}) {
          if (!passes(from)) continue;
          const Side to = from == kCaller ? kTarget : kCaller;
          const auto rest = pair.to[to].due - std::chrono::steady_clock::now();
          if (limited(from) && !pair.to[to].empty() && rest.count() > 0) {
            const auto rest_ms = std::chrono::ceil<std::chrono::milliseconds>(rest).count();
            wait_ms = std::min(wait_ms, static_cast<int>(rest_ms));
          } else if (pair.to[to].empty()) {
            files.push_back({.fd = pair.files[from], .events = POLLIN, .revents = 0});
          } else {
            files.push_back({.fd = pair.files[to], .events = POLLOUT, .revents = 0});
          }
        }
      }
    }
    if (::poll(files.data(), files.size(), wait_ms) < 0) continue;
    changed_.take();
    const std::lock_guard lock(mutex_);
    if (listener_ >= 0 && (up_ || down_)) accept();
    for (Pair& pair : pairs_) {
      for (const Side from : {kCaller, kTarget}) {
        if (!pair.forgotten && !pair.over && passes(from)) pump(pair, from);
      }
    }
  }
}

}  // namespace tributary::end_to_end
