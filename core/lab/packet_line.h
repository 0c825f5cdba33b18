// One direction of a link: packets go in, and come out when a line of that rate, delay, jitter and
// loss would let them. Driven by the times it is handed; the same seed, times and sizes give the
// same fates.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/net/shaped/shaper.h"

namespace tributary {

struct PacketLineOptions {
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};
  std::uint64_t bytes_per_s = 0;  // 0: as fast as it goes
  double loss = 0;                // share of segments: a packet may be many
  double reorder = 0;  // share of packets that skip the delay, and so overtake what is on the line
  std::uint64_t queue_bytes = 1u << 20;  // that may wait for the rate; the rest is dropped
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  // lines of one seed draw from streams of their own
};

struct LinePacket {
  Bytes bytes;
  std::size_t wire_bytes = 0;  // what it takes of the line's rate
  std::uint32_t segments = 1;  // of more than one, some may be lost
};

struct LineCounts {
  std::uint64_t packets = 0;  // that came out
  std::uint64_t wire_bytes = 0;
  std::uint64_t lost = 0;        // by chance
  std::uint64_t overflowed = 0;  // no place in the queue, or too much held
  std::uint64_t reordered = 0;
};

class PacketLine {
 public:
  using Time = std::chrono::nanoseconds;

  // What a line without a rate may hold: the most memory that it takes.
  static constexpr std::size_t kHeldBytesMax = 64u << 20;

  static Result<PacketLine> make(const PacketLineOptions& options);

  // The line is another one from now on; what is on it arrives as it would have.
  void change(Time delay, std::uint64_t bytes_per_s, double loss, std::uint64_t queue_bytes);

  // Tail drop: a packet gets in whole while the queue has any room. A lost one takes its time, too.
  void put(Time now, LinePacket packet);

  // When the next packet comes out; nothing while none is on the line.
  std::optional<Time> next_due() const;
  // The packet that has come out by now, and when it should have.
  struct Out {
    Time due{0};
    LinePacket packet;
  };
  std::optional<Out> take(Time now);

  const LineCounts& counts() const { return counts_; }

 private:
  struct Held {
    Time due;
    std::uint64_t number;  // of two that are due at once the first goes first
    LinePacket packet;
  };
  struct Later {
    bool operator()(const Held& a, const Held& b) const {
      return a.due != b.due ? a.due > b.due : a.number > b.number;
    }
  };

  PacketLine(const PacketLineOptions& options, const Shaper& shaper);
  bool queue_is_full(Time now) const;
  // A share of all draws, which are numbered, comes out true.
  bool happens(double share, std::uint32_t purpose, std::uint64_t number) const;
  // Which of the packet's segments are lost; nothing when none is.
  std::vector<bool> draw_losses(std::uint32_t segments);
  void hold(Time due, LinePacket packet);

  PacketLineOptions options_;
  Shaper shaper_;
  std::vector<Held> held_;  // a heap
  std::size_t held_bytes_ = 0;
  std::uint64_t packets_put_ = 0;
  std::uint64_t segments_put_ = 0;
  std::uint64_t packets_held_ = 0;
  LineCounts counts_;
};

}  // namespace tributary
