// An agent's side of all slots of a job: which chunk of a bucket is sent when.
//
// Chunk c of a bucket uses slot c mod S, and every use of a slot is its next phase. All agents
// exchange the same buckets in the same order, so they agree on both without a message. A chunk
// moves on only after the result with exactly its sequence.
//
// The window of chunks under way clocks itself: a result releases the next chunk. A chunk is
// repeated when a chunk that was sent later has its result, or after a time-out (chunk_window.h).
// Both follow one list in the order of sending.
//
// Pure: the caller passes times in nanoseconds and moves the bytes. Memory is proportional to the
// slots; no call allocates but the constructor. All calls are O(1), and on_time() is O(expired).
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/collective/in_network/chunk_window.h"
#include "core/collective/in_network/packet.h"
#include "core/collective/in_network/slot_phases.h"

namespace tributary::in_network {

inline constexpr std::int64_t kNoTime = INT64_MAX;

// How a bucket has ended.
enum class BucketEnd : std::uint8_t { running, complete, refused, deadline };

struct ChunkSend {
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
  // The next bucket. Requires that the one before is complete, or a new epoch.
  void begin(std::uint32_t chunks, std::int64_t deadline_ns);

  // The next chunk to send now, a repeat before a new one. Call it until it returns nothing.
  std::optional<ChunkSend> next_send(std::int64_t now_ns);
  // The chunk that a result is for, if it is awaited.
  std::optional<std::uint32_t> chunk_of(const PacketHeader& header) const;
  // Takes a result. Returns false if it is not awaited.
  bool on_result(const PacketHeader& header, std::int64_t now_ns);
  // Returns whether it ends the bucket: the refusal is for a contribution that is awaited.
  bool on_refusal(const PacketHeader& header);
  // Handles time-outs and the deadline.
  void on_time(std::int64_t now_ns);
  // When on_time() has something to do; kNoTime: never.
  std::int64_t next_time_ns() const;

  BucketEnd end() const { return end_; }
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
    std::uint32_t chunk = 0;
    std::uint32_t before = kNone;  // in one of the two lists
    std::uint32_t after = kNone;
    std::int64_t sent_ns = 0;
    bool repeated = false;
    bool timed = false;  // in the list of time-outs, not in that of repeats
  };
  // A list through the slots.
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t size = 0;
  };

  void append(List& list, std::uint32_t slot);
  void unlink(List& list, std::uint32_t slot);
  ChunkSend send(std::uint32_t slot, std::int64_t now_ns);
  void repeat_first();

  ChunkWindow window_;
  std::vector<Slot> slots_;
  List timed_;      // on their way, in the order of sending
  List to_repeat_;  // lost, or timed out
  std::uint32_t epoch_ = 0;
  std::uint32_t chunks_ = 0;
  std::uint32_t next_chunk_ = 0;
  std::uint32_t results_ = 0;
  std::int64_t deadline_ns_ = kNoTime;
  BucketEnd end_ = BucketEnd::complete;
  DropReason refused_for_ = DropReason::none;

  std::uint64_t sent_ = 0;
  std::uint64_t repeats_ = 0;
};

}  // namespace tributary::in_network
