#include "core/round/common/session/received_ids.h"

namespace tributary {

ReceivedIds::Verdict ReceivedIds::take(std::uint64_t id) {
  if (id <= all_up_to_ || ahead_.contains(id)) return Verdict::repeat;
  // Bounds the set against a peer that skips numbers.
  if (id - all_up_to_ > kAheadMax) return Verdict::too_far;
  ahead_.insert(id);
  while (!ahead_.empty() && *ahead_.begin() == all_up_to_ + 1) {
    ahead_.erase(ahead_.begin());
    ++all_up_to_;
  }
  return Verdict::fresh;
}

void ReceivedMessages::refused(std::uint64_t id, const wire::RefusalT& refusal) {
  done(id);
  if (refused_.size() >= kRefusedMax) refused_.erase(refused_.begin());
  refused_.insert_or_assign(id, refusal);
}

const wire::RefusalT* ReceivedMessages::refusal_of(std::uint64_t id) const {
  const auto found = refused_.find(id);
  return found == refused_.end() ? nullptr : &found->second;
}

}  // namespace tributary
