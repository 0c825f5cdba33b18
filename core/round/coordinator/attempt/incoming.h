// Payloads on their way to the coordinator, with a bound on what all incomplete ones hold together.
// A payload of one part needs no memory here. For a larger one its sender asks for room first, or
// its first part does: one that finds none is dropped, and its sender is told to wait and called
// when there is.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "core/round/common/machine/reassembly.h"

namespace tributary {

// Whose payload, and of what: the stage is the one that is open.
struct IncomingKey {
  std::uint32_t bucket = 0;
  std::uint32_t member = 0;
  friend auto operator<=>(const IncomingKey&, const IncomingKey&) = default;
};

class Incoming {
 public:
  explicit Incoming(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // The payload's place; null when there is no room yet.
  Reassembly* find_or_admit(const IncomingKey& key, std::uint64_t bytes);
  Reassembly* find(const IncomingKey& key);
  void erase(const IncomingKey& key);
  // All of a bucket, or of a member: what was begun is not continued.
  void erase_bucket(std::uint32_t bucket);
  void erase_member(std::uint32_t member);
  void clear();

  // Who waited longest, if there is room now, which it then has.
  std::optional<IncomingKey> call_next();
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_max() const { return bytes_max_; }

 private:
  bool fits(std::uint64_t bytes) const { return places_.empty() || bytes_ + bytes <= bytes_max_; }

  const std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::map<IncomingKey, Reassembly> places_;
  std::map<IncomingKey, std::uint64_t> waiting_;  // the bytes that they want room for
  std::deque<IncomingKey> queue_;                 // may hold some that no longer wait
};

}  // namespace tributary
