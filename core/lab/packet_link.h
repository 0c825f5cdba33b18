// One direction of an emulated link. Packets go in and come out at the times that rate, delay,
// jitter and loss determine. The caller supplies the time; equal seeds, times and sizes give equal
// results.
//
// Used by one thread. Holds at most kHeldBytesMax of packets; put() and take() cost O(log n) for n
// packets on the link.
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

// Properties of the link in this direction.
struct PacketLinkOptions {
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};
  std::uint64_t bytes_per_s = 0;  // 0: unlimited
  double loss = 0;                // share of segments; a packet may contain many
  double reorder = 0;  // share of packets that skip the delay, and so overtake those on the link
  // Capacity of the queue for the rate; packets beyond it are dropped.
  std::uint64_t queue_bytes = 1u << 20;
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  // links with one seed and different streams draw independently
};

// A packet and its size on the wire.
struct LinkPacket {
  Bytes bytes;
  std::size_t wire_bytes = 0;  // bytes that count against the rate, including repeated headers
  std::uint32_t segments = 1;  // single segments of a packet with several may be lost
};

// Statistics since the object was created.
struct PacketLinkCounts {
  std::uint64_t packets = 0;  // packets that came out
  std::uint64_t wire_bytes = 0;
  std::uint64_t lost = 0;        // segments lost at random
  std::uint64_t overflowed = 0;  // dropped: the queue or the memory bound was full
  std::uint64_t reordered = 0;
};

class PacketLink {
 public:
  using Time = std::chrono::nanoseconds;

  // Bound on the memory of a link without a rate, in bytes.
  static constexpr std::size_t kHeldBytesMax = 64u << 20;

  // Fails with invalid_argument if loss or reordering is not a share from 0 to 1, or as
  // Shaper::make() does.
  static Result<PacketLink> make(const PacketLinkOptions& options);

  // Changes the link from now on. Packets that are already on it arrive as before.
  void change(Time delay, std::uint64_t bytes_per_s, double loss, std::uint64_t queue_bytes);

  // Adds a packet with tail drop: it is accepted completely if the queue is not full. A lost packet
  // still uses its time on the link.
  void put(Time now, LinkPacket packet);

  // The time at which the next packet comes out; empty if the link holds none.
  std::optional<Time> next_due() const;
  // A packet that came out, with the exact time at which it was due.
  struct Out {
    Time due{0};
    LinkPacket packet;
  };
  std::optional<Out> take(Time now);

  const PacketLinkCounts& counts() const { return counts_; }

 private:
  struct Held {
    Time due;
    std::uint64_t number;  // order of packets with equal due times
    LinkPacket packet;
  };
  struct Later {
    bool operator()(const Held& a, const Held& b) const {
      return a.due != b.due ? a.due > b.due : a.number > b.number;
    }
  };

  PacketLink(const PacketLinkOptions& options, const Shaper& shaper);
  bool queue_is_full(Time now) const;
  // True for the share `share` of all draws, which are numbered.
  bool happens(double share, std::uint32_t purpose, std::uint64_t number) const;
  // Marks the lost segments of a packet; empty if none is lost.
  std::vector<bool> draw_losses(std::uint32_t segments);
  void hold(Time due, LinkPacket packet);

  PacketLinkOptions options_;
  Shaper shaper_;
  std::vector<Held> held_;  // a heap, earliest first
  std::size_t held_bytes_ = 0;
  std::uint64_t packets_put_ = 0;
  std::uint64_t segments_put_ = 0;
  std::uint64_t packets_held_ = 0;
  PacketLinkCounts counts_;
};

}  // namespace tributary
