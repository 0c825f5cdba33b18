// How many chunks of an agent may be under way, and when one counts as lost.
//
// The window grows by one for each window of results and halves at a loss. The time-out follows the
// measured round trips, as TCP's does (RFC 6298). Pure; times are in nanoseconds. Not thread-safe.
#pragma once

#include <cstdint>

namespace tributary::in_network {

struct SlotClientOptions {
  std::uint32_t slots = 64;
  std::uint32_t window = 32;  // at the start
  std::int64_t timeout_ns_first = 20'000'000;
  std::int64_t timeout_ns_min = 2'000'000;
  std::int64_t timeout_ns_max = 500'000'000;
};

class ChunkWindow {
 public:
  // Requires at least one slot, a window of at least 1, and positive times.
  explicit ChunkWindow(const SlotClientOptions& options);

  std::uint32_t slots() const { return options_.slots; }
  std::uint32_t chunks() const { return chunks_; }
  std::int64_t timeout_ns() const;

  void on_result();
  // A round trip of a chunk that was sent once. After a repeat, the result may be the answer to
  // either packet, so its time says nothing.
  void on_round_trip(std::int64_t round_trip_ns);
  // A chunk that was sent at `sent_ns` is lost. Chunks that were under way together are lost
  // together; that counts once.
  void on_loss(std::int64_t sent_ns, std::int64_t now_ns);

 private:
  const SlotClientOptions options_;
  std::uint32_t chunks_;
  std::uint32_t results_ = 0;  // since the window last changed
  std::int64_t halved_ns_ = INT64_MIN;
  std::int64_t smoothed_ns_ = 0;  // round trip; 0: not measured
  std::int64_t deviation_ns_ = 0;
  std::uint32_t backoff_ = 0;  // doublings of the time-out
};

}  // namespace tributary::in_network
