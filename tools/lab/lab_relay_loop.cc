#include "tools/lab/lab_relay_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <optional>
#include <system_error>
#include <utility>

#include "core/lab/wire_bytes.h"

namespace tributary {
namespace {

using Time = PacketLink::Time;

constexpr std::size_t kPacketBytesMax = (64u << 10) + 256;  // a GSO packet with its headers
// Shorter packets are copied out of the buffer that all packets are read into. Nothing else is done
// for each of its bytes: a pass over it takes ten times as long as all else for a packet.
constexpr std::size_t kCopiedBytesMax = 16u << 10;
constexpr std::size_t kSpareBuffersMax = 256;
constexpr int kPacketsAtOnce = 64;  // from one TAP, before the other TAPs have a turn

Time now() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + Time(time.tv_nsec);
}

// Reads packets when they arrive, and writes each when it is due.
class Relay {
 public:
  explicit Relay(std::vector<RelayDirection>& directions)
      : directions_(directions), begin_(now()), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~Relay() { ::close(epoll_); }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  Status run() {
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      epoll_event event = {.events = EPOLLIN, .data = {.u64 = i}};
      if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, directions_[i].from, &event) != 0) return fault(errno);
    }
    for (;;) {
      TRIBUTARY_TRY(wait_and_read());
      for (RelayDirection& direction : directions_) deliver(direction);
    }
  }

 private:
  static Status fault(int error) {
    return Status(StatusCode::io_error, {.what = "the relay",
                                         .expected = {},
                                         .got = std::generic_category().message(error),
                                         .remedy = {}});
  }

  // Sleeps until a packet arrives or the next one on any link is due.
  Status wait_and_read() {
    std::array<epoll_event, 64> events{};
    std::optional<Time> due;
    for (const RelayDirection& direction : directions_) {
      const std::optional<Time> next = direction.link.next_due();
      if (next && (!due || *next < *due)) due = next;
    }
    timespec timeout = {};
    if (due) {
      const Time left = std::max(*due - now(), Time(0));
      timeout = {.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000),
                 .tv_nsec = static_cast<long>(left.count() % 1'000'000'000)};
    }
    const int count = ::epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()),
                                     due ? &timeout : nullptr, nullptr);
    if (count < 0 && errno != EINTR) return fault(errno);
    for (int i = 0; i < count; ++i) {
      TRIBUTARY_TRY(read(directions_[events[static_cast<std::size_t>(i)].data.u64]));
    }
    return {};
  }

  // Reads a bounded number of packets, so one busy direction cannot delay the others.
  Status read(RelayDirection& direction) {
    for (int i = 0; i < kPacketsAtOnce; ++i) {
      const ssize_t size = ::read(direction.from, buffer_.data(), buffer_.size());
      if (size < 0) {
        // A TAP that is down has no packets now; a TAP that is gone is an error.
        if (errno == EAGAIN || errno == EINTR || errno == EIO) return {};
        return fault(errno);
      }
      Bytes packet = take_packet(static_cast<std::size_t>(size));
      const Time time = now();
      follow_trace(direction, time);
      const WireSize wire = wire_size(packet);
      direction.link.put(
          time, {.bytes = std::move(packet), .wire_bytes = wire.bytes, .segments = wire.segments});
    }
    return {};
  }

  // Writes all packets that are due, and records how late they are.
  void deliver(RelayDirection& direction) {
    const Time time = now();
    while (std::optional<PacketLink::Out> out = direction.link.take(time)) {
      // If the other end is down or has no memory, the packet is dropped, as in a network.
      [[maybe_unused]] const ssize_t written =
          ::write(direction.to, out->packet.bytes.data(), out->packet.bytes.size());
      direction.counts->note_late(static_cast<std::uint64_t>((time - out->due).count()));
      if (out->packet.bytes.capacity() >= kPacketBytesMax) give_back(std::move(out->packet.bytes));
    }
    direction.counts->link = direction.link.counts();
  }

  // Applies the step of the trace that is in force at this time.
  void follow_trace(RelayDirection& direction, Time time) const {
    if (direction.trace == nullptr) return;
    const TraceStep& step = direction.trace->at(time - begin_);
    if (&step == direction.step) return;
    direction.step = &step;
    LinkSettings link;
    link.delay = step.delay;
    direction.link.change(step.delay, step.bytes_per_s, step.loss,
                          queue_bytes_for(link, step.bytes_per_s * 8, direction.mtu_bytes));
  }

  // The packet that has just been read. A long one (GSO) keeps the buffer.
  Bytes take_packet(std::size_t bytes) {
    if (bytes <= kCopiedBytesMax) {
      return Bytes(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(bytes));
    }
    Bytes packet = std::exchange(buffer_, take_buffer());
    packet.resize(bytes);
    return packet;
  }

  Bytes take_buffer() {
    if (spare_.empty()) return Bytes(kPacketBytesMax);
    Bytes buffer = std::move(spare_.back());
    spare_.pop_back();
    buffer.resize(kPacketBytesMax);
    return buffer;
  }
  void give_back(Bytes buffer) {
    if (spare_.size() < kSpareBuffersMax) spare_.push_back(std::move(buffer));
  }

  std::vector<RelayDirection>& directions_;
  Time begin_;
  int epoll_;
  Bytes buffer_ = Bytes(kPacketBytesMax);
  std::vector<Bytes> spare_;
};

}  // namespace

Status run_relay_loop(std::vector<RelayDirection>& directions) { return Relay(directions).run(); }

}  // namespace tributary
