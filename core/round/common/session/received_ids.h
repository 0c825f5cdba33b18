// The messages of the other side that have arrived, by number.
//
// Pure. It makes delivery exactly-once for the machine above a connection that may repeat messages
// after it was reopened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "schemas/frame.h"

namespace tributary {

// A set of received numbers. Numbers are assigned in order, so only a few lie beyond the first gap.
// A number more than 4096 beyond it is refused (too_far), which bounds the memory. Not thread-safe.
class ReceivedIds {
 public:
  // fresh: new. repeat: received before. too_far: refused, beyond the limit.
  enum class Verdict { fresh, repeat, too_far };
  // Adds a number.
  Verdict take(std::uint64_t id);
  // The largest n for which all numbers from 1 to n have arrived.
  std::uint64_t all_up_to() const { return all_up_to_; }

 private:
  // Bounds the memory for numbers beyond the first gap.
  static constexpr std::uint64_t kAheadMax = 4096;

  std::uint64_t all_up_to_ = 0;
  std::set<std::uint64_t> ahead_;
};

// The received messages that require an answer. A repeat is answered in the same manner as the
// first copy, unless that one is still in work. Not thread-safe.
class ReceivedMessages {
 public:
  ReceivedIds::Verdict take(std::uint64_t id) { return ids_.take(id); }
  std::uint64_t all_up_to() const { return ids_.all_up_to(); }

  void in_work(std::uint64_t id) { in_work_.insert(id); }
  bool is_in_work(std::uint64_t id) const { return in_work_.contains(id); }
  void done(std::uint64_t id) { in_work_.erase(id); }
  void refused(std::uint64_t id, const wire::RefusalT& refusal);
  // The refusal that was sent for this message. Null if it was not refused, or is no longer
  // remembered.
  const wire::RefusalT* refusal_of(std::uint64_t id) const;

 private:
  static constexpr std::size_t kRefusedMax = 16;  // the refusals with the highest ids

  ReceivedIds ids_;
  std::set<std::uint64_t> in_work_;
  std::map<std::uint64_t, wire::RefusalT> refused_;
};

}  // namespace tributary
