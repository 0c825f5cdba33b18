// An agent's side of all slots of a job: which chunk of a bucket is sent when.
//
// The chunks of all buckets of an epoch use the S slots in turn, and every use of a slot is its
// next phase. All agents exchange the same buckets in the same order, so they agree on both without
// a message. A chunk moves on only after the result with exactly its sequence.
//
// The window of chunks under way clocks itself: a result releases the next chunk. A chunk is
// repeated when a chunk that was sent later by a part of a round trip, or some chunks later, has
// its result, or when its own is overdue (chunk_window.h). All follow one list in the order of
// sending.
//
// After a time-out all agents repeat the same chunk, the oldest one, whatever the window says.
// Otherwise agents that have lost different packets would repeat different chunks, none of which
// then has the contributions of all.
//
// When all chunks of a bucket have been sent, the next bucket may begin, so that nothing stands
// still until the last lost chunk has been noticed. Buckets are complete in the order of their
// beginnings.
//
// Pure: the caller passes times in nanoseconds and moves the bytes. Memory is proportional to the
// slots; no call allocates but the constructor. All calls are O(1), and on_time() is O(expired).
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/collective/in_network/chunk_window.h"
#include "core/collective/in_network/packet.h"
#include "core/collective/in_network/slot_phases.h"

namespace tributary::in_network {

inline constexpr std::int64_t kNoTime = INT64_MAX;

// Buckets of one agent that may be under way.
inline constexpr std::uint32_t kOpenBucketsMax = 8;

// How all buckets that have begun have ended. Refusals and deadlines end all that are under way.
enum class BucketEnd : std::uint8_t { running, complete, refused, deadline };

// Buckets have numbers from 0 on in an epoch.
struct ChunkOfBucket {
  std::uint32_t bucket;
  std::uint32_t chunk;
};

struct ChunkSend {
  std::uint32_t bucket;
  std::uint32_t chunk;
  std::uint16_t slot;
  std::uint32_t sequence;
};

class SlotClient {
 public:
  // Requires slots of 1 to 65536, a window of at least 1, and positive times.
  explicit SlotClient(const SlotClientOptions& options);

  // A new epoch: all slots begin again.
  void enter(std::uint32_t epoch);
  // Whether the next bucket may begin: no chunk of those before waits to be sent first.
  bool can_begin() const;
  // The next bucket. Requires can_begin().
  void begin(std::uint32_t chunks, std::int64_t deadline_ns);

  // The next chunk to send now, a repeat before a new one. Call it until it returns nothing.
  std::optional<ChunkSend> next_send(std::int64_t now_ns);
  // The chunk that a result is for, if it is awaited.
  std::optional<ChunkOfBucket> chunk_of(const PacketHeader& header) const;
  // Takes a result. Returns false if it is not awaited.
  bool on_result(const PacketHeader& header, std::int64_t now_ns);
  // Returns whether it ends the epoch: the refusal is for a contribution that is awaited.
  bool on_refusal(const PacketHeader& header);
  // Handles time-outs and the deadline.
  void on_time(std::int64_t now_ns);
  // When on_time() has something to do; kNoTime: never.
  std::int64_t next_time_ns() const;

  BucketEnd end() const { return end_; }
  // Buckets of the epoch that have begun, and the first of them that are complete.
  std::uint32_t begun() const { return begun_; }
  std::uint32_t completed() const { return completed_; }
  // Packets of a bucket that is under way, or of one of the last kOpenBucketsMax.
  std::uint64_t sent_of(std::uint32_t bucket) const { return open(bucket).sent; }
  std::uint64_t repeats_of(std::uint32_t bucket) const { return open(bucket).repeats; }
  // The first reason of a refused bucket.
  DropReason refused_for() const { return refused_for_; }
  std::uint32_t epoch() const { return epoch_; }
  std::uint32_t window() const { return window_.chunks(); }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t repeats() const { return repeats_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Slot {
    SlotTurn turn;
    ChunkOfBucket of = {.bucket = 0, .chunk = 0};
    std::uint32_t before = kNone;  // in one of the two lists
    std::uint32_t after = kNone;
    std::int64_t sent_ns = 0;
    std::uint64_t ordinal = 0;  // of its last sending, from 1 on
    bool repeated = false;
    bool lost = false;   // a later one had its result first, or its repeat was probed
    bool timed = false;  // in the list of time-outs, not in that of repeats
  };
  struct Bucket {
    std::uint32_t chunks = 0;
    std::uint32_t results = 0;
    std::int64_t deadline_ns = kNoTime;
    std::uint64_t sent = 0;
    std::uint64_t repeats = 0;
  };
  // Chunk n of the epoch uses slot n % slots.
  struct Turns {
    std::uint64_t next = 0;
    std::uint64_t oldest = 0;  // the first chunk without a result
    bool oldest_due = false;   // again, after a time-out
  };
  // A list through the slots.
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t size = 0;
    std::uint32_t repeats = 0;  // of its slots
  };

  void append(List& list, std::uint32_t slot);
  void unlink(List& list, std::uint32_t slot);
  ChunkSend send(std::uint32_t slot, std::int64_t now_ns);
  ChunkSend send_again(std::uint32_t slot, std::int64_t now_ns);
  bool may_send() const;
  bool first_is_lost() const;
  void repeat_first(bool lost);
  void repeat_overdue(std::int64_t sent_ns_max);
  Bucket& open(std::uint32_t bucket) { return buckets_[bucket % kOpenBucketsMax]; }
  const Bucket& open(std::uint32_t bucket) const { return buckets_[bucket % kOpenBucketsMax]; }
  // The last bucket that has begun.
  const Bucket& last() const { return open(begun_ - 1); }
  std::uint32_t oldest_slot() const {
    return static_cast<std::uint32_t>(turns_.oldest % slots_.size());
  }
  void settle();
  std::int64_t deadline_ns() const;

  ChunkWindow window_;
  std::vector<Slot> slots_;
  List timed_;                          // on their way, in the order of sending
  List to_repeat_;                      // lost, or timed out
  std::uint64_t answered_ordinal_ = 0;  // of the newest chunk that was sent once and has its result
  std::uint32_t epoch_ = 0;
  std::array<Bucket, kOpenBucketsMax> buckets_ = {};
  std::uint32_t begun_ = 0;  // buckets of the epoch
  std::uint32_t completed_ = 0;
  std::uint32_t next_chunk_ = 0;  // of the last bucket
  Turns turns_;
  BucketEnd end_ = BucketEnd::complete;
  DropReason refused_for_ = DropReason::none;

  std::uint64_t sent_ = 0;
  std::uint64_t repeats_ = 0;
};

}  // namespace tributary::in_network
