// How long the bytes of a payload took to come, told by who reads them from a socket.
//
// What lies in the socket's buffer when the reader gets there came at some time before, and would
// make every line look as quick as memory. So the time begins where the reader has caught up: it
// has looked, at a time taken before it looked, and nothing was left. Whatever is read after that
// came after that time, however late the reader wakes up; being late makes the line look slower and
// never quicker, and what waited for its sender does the same. Pure: times are handed in.
#pragma once

#include <chrono>
#include <cstdint>

namespace tributary {

struct Arrival {
  std::uint64_t bytes = 0;  // of the stream; 0: it was not timed
  std::chrono::nanoseconds took{0};
};

class ArrivalTimer {
 public:
  // With less, what one wake-up takes is a good part of the time.
  static constexpr std::uint64_t kBytesMin = 64 * 1024;

  // A look at `now` found nothing more of a payload that has begun. `stream_bytes` have come so
  // far.
  void caught_up(std::chrono::nanoseconds now, std::uint64_t stream_bytes) {
    if (timing_) return;
    timing_ = true;
    began_ = now;
    began_bytes_ = stream_bytes;
  }

  // The payload has come. The next one is timed for itself.
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
