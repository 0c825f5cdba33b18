// The incomplete payloads of an attempt on the coordinator, with a limit on their total memory.
//
// A payload of one part needs no memory here. A larger one reserves its size with its announcement
// or with its first part. If the memory is full, the payload is queued, and call_next() returns it
// when memory is free. A single payload is always admitted, even above the limit. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "core/round/common/machine/reassembly.h"

namespace tributary {

// Address of a payload: of the bucket's open stage, a standalone one, or a segment of a result.
struct IncomingKey {
  std::uint32_t bucket = 0;
  std::uint32_t member = 0;
  bool standalone = false;
  std::uint32_t stage = 0;  // of a result; otherwise 0
  std::uint32_t segment = 0;
  friend auto operator<=>(const IncomingKey&, const IncomingKey&) = default;
};

class Incoming {
 public:
  explicit Incoming(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // The payload's memory. Null: the memory is full and the payload is queued.
  Reassembly* find_or_admit(const IncomingKey& key, std::uint64_t bytes);
  Reassembly* find(const IncomingKey& key);
  // Adds a payload that has its memory already, even above the limit.
  Reassembly& put(const IncomingKey& key, Reassembly payload);
  // Moves out a payload; empty if there is none.
  std::optional<Reassembly> release(const IncomingKey& key);
  void erase(const IncomingKey& key);
  // Drops all payloads of a bucket's open stage or of a member, and their place in the queue.
  void erase_stage(std::uint32_t bucket);
  void erase_member(std::uint32_t member);
  void clear();

  // Admits the payload that has waited longest, if memory is free. Returns its address, or empty.
  std::optional<IncomingKey> call_next();
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_max() const { return bytes_max_; }

 private:
  bool fits(std::uint64_t bytes) const { return places_.empty() || bytes_ + bytes <= bytes_max_; }

  const std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::map<IncomingKey, Reassembly> places_;
  std::map<IncomingKey, std::uint64_t> waiting_;  // bytes that each payload needs
  std::deque<IncomingKey> queue_;                 // may contain payloads that no longer wait
};

}  // namespace tributary
