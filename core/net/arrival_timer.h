// Measures how long the bytes of a payload took to arrive at a socket. The reader of the socket
// calls it.
//
// Bytes that already lie in the socket's buffer arrived at an unknown earlier time. If they
// counted, every link would look as fast as memory. The measurement therefore begins when the
// reader has caught up: it has taken the time, has then looked, and nothing was left to read. All
// bytes that it reads afterwards arrived after that time, however late the reader wakes up. A late
// reader and a slow sender both make the link look slower, never faster.
//
// It reads no clock: the caller passes in times of any monotonic clock. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace tributary {

struct Arrival {
  std::uint64_t bytes = 0;  // bytes of the stream in `took`; 0: not measured
  std::chrono::nanoseconds took{0};
};

class ArrivalTimer {
 public:
  // A measurement of fewer bytes is dropped: the time of one wake-up would be a large part of it.
  static constexpr std::uint64_t kBytesMin = 64 * 1024;

  // The reader looked at time `now` and found no more bytes of a payload that has begun.
  // `stream_bytes` is the number of bytes received so far on the connection.
  void caught_up(std::chrono::nanoseconds now, std::uint64_t stream_bytes) {
    if (timing_) return;
    timing_ = true;
    began_ = now;
    began_bytes_ = stream_bytes;
  }

  // The payload is complete. Returns the measurement and starts over for the next payload.
  Arrival whole(std::chrono::nanoseconds now, std::uint64_t stream_bytes) {
    if (!timing_) return {};
    timing_ = false;
    const std::uint64_t bytes = stream_bytes - began_bytes_;
    if (bytes < kBytesMin || now <= began_) return {};
    return {.bytes = bytes, .took = now - began_};
  }

 private:
  bool timing_ = false;
  std::chrono::nanoseconds began_{0};
  std::uint64_t began_bytes_ = 0;
};

}  // namespace tributary
