// One agent's exchange of whole buckets through an aggregator: packed levels in, sums out.
//
// The levels are the fields of a THC payload with 4 bits, and the sums are those of a combined
// payload with down=8 or down=16 (docs/codecs/thc.md), so neither is copied into another form: a
// packet to send is a header and a span of the payload. The host sends and receives datagrams and
// passes the time.
//
// A bucket may begin when all packets of the one before have been sent once, and buckets are
// complete in their order. The caller keeps levels and sums alive until the bucket has ended. An
// exchange that was refused or reached its deadline needs a new epoch; its buckets then take the
// star. Not thread-safe. No allocation per packet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/collective/in_network/packet.h"
#include "core/collective/in_network/slot_client.h"

namespace tributary::in_network {

// An agent's knowledge of its job.
struct BucketJob {
  std::uint16_t handle = 0;
  std::uint8_t agent = 0;
  std::uint8_t agents = 0;
  std::uint16_t table = 0;  // fingerprint
  bool wide = false;        // sums of 16 bits
  // Values in a packet, a multiple of kCountUnit, as far as the width allows it; 0: as many as fit.
  std::uint32_t packet_values = 0;

  std::uint32_t count() const { return count_max(wide, packet_values); }
};

// A packet to send: both spans one after the other. The body points into the levels.
struct BucketPacket {
  std::array<std::uint8_t, kHeaderBytes> header;
  ByteSpan body;
};

class BucketExchange {
 public:
  // The number of agents is the job's.
  BucketExchange(const BucketJob& job, SlotClientOptions options)
      : job_(job), client_((options.agents = job.agents, options)) {}

  void enter(std::uint32_t epoch) { client_.enter(epoch); }
  bool can_begin() const { return client_.can_begin(); }
  // Requires can_begin(). `levels` has two values in a byte, a multiple of kCountUnit in all;
  // `sums` has one or two bytes for each value. Returns invalid_argument for other sizes.
  Status begin(ByteSpan levels, MutableByteSpan sums, std::int64_t deadline_ns);

  std::optional<BucketPacket> next_packet(std::int64_t now_ns);
  // Takes a datagram from the aggregator. A datagram that does not fit is ignored and counted; the
  // reason is returned. `replayed`: nothing waits for it.
  DropReason receive(ByteSpan datagram, std::int64_t now_ns);
  void on_time(std::int64_t now_ns) { client_.on_time(now_ns); }
  std::int64_t next_time_ns() const { return client_.next_time_ns(); }

  // The end of all buckets that have begun.
  BucketEnd end() const { return client_.end(); }
  // Buckets of the epoch that are complete.
  std::uint32_t completed() const { return client_.completed(); }
  // By DropReason.
  const std::array<std::uint64_t, kDropReasons>& ignored() const { return ignored_; }
  const SlotClient& client() const { return client_; }

 private:
  struct Bucket {
    ByteSpan levels;
    MutableByteSpan sums;
  };
  Bucket& open(std::uint32_t bucket) { return buckets_[bucket % kOpenBucketsMax]; }
  std::uint32_t count_of(const Bucket& bucket, std::uint32_t chunk) const;
  DropReason check(const Packet& packet) const;
  DropReason take(ByteSpan datagram, std::int64_t now_ns);

  const BucketJob job_;
  SlotClient client_;
  std::array<Bucket, kOpenBucketsMax> buckets_;
  std::array<std::uint64_t, kDropReasons> ignored_ = {};
};

}  // namespace tributary::in_network
