// Which of the other side's messages have arrived, by their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "schemas/frame.h"

namespace tributary {

// Numbers are given in order, so that few are ahead of the first gap.
class ReceivedIds {
 public:
  enum class Verdict { fresh, repeat, too_far };
  Verdict take(std::uint64_t id);
  std::uint64_t all_up_to() const { return all_up_to_; }

 private:
  static constexpr std::uint64_t kAheadMax = 4096;

  std::uint64_t all_up_to_ = 0;
  std::set<std::uint64_t> ahead_;
};

// Messages that want an answer, and how a repeat of one is answered: as the first was, unless that
// one is still in work.
class ReceivedMessages {
 public:
  ReceivedIds::Verdict take(std::uint64_t id) { return ids_.take(id); }
  std::uint64_t all_up_to() const { return ids_.all_up_to(); }

  void in_work(std::uint64_t id) { in_work_.insert(id); }
  bool is_in_work(std::uint64_t id) const { return in_work_.contains(id); }
  void done(std::uint64_t id) { in_work_.erase(id); }
  void refused(std::uint64_t id, const wire::RefusalT& refusal);
  // Null: the message was not refused, or too long ago.
  const wire::RefusalT* refusal_of(std::uint64_t id) const;

 private:
  static constexpr std::size_t kRefusedMax = 16;  // the last ones

  ReceivedIds ids_;
  std::set<std::uint64_t> in_work_;
  std::map<std::uint64_t, wire::RefusalT> refused_;
};

}  // namespace tributary
