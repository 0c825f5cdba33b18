#include "core/round/common/session/bulk_receipts.h"

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

// Half of the shortest part of a long payload, so that every such part is acknowledged at once.
constexpr std::uint64_t kAcknowledgedAtOnceBytes = SendWindow::kPartBytesMin / 2;
constexpr TimeNs kAcknowledgeAfterNs = 25'000'000;

}  // namespace

ReceivedIds::Verdict BulkReceipts::take(TimeNs now, std::uint64_t number, std::uint64_t bytes) {
  last_arrival_ns_ = now;
  const ReceivedIds::Verdict verdict = received_.take(number);
  if (verdict == ReceivedIds::Verdict::fresh) untold_bytes_ += bytes;
  if (verdict == ReceivedIds::Verdict::repeat) asked_again_ = true;
  return verdict;
}

bool BulkReceipts::due(TimeNs now) {
  // Nothing new has arrived, and the other side has not repeated anything.
  if (received_.all_up_to() == reported_ && !asked_again_) return false;
  if (received_.all_up_to() == 0) return false;
  if (asked_again_ || untold_bytes_ >= kAcknowledgedAtOnceBytes) return true;
  due_at_ns_ = std::min(due_at_ns_, now + kAcknowledgeAfterNs);
  return now >= due_at_ns_;
}

std::uint64_t BulkReceipts::report(bool always) {
  const std::uint64_t count = received_.all_up_to();
  const bool changed = std::exchange(reported_, count) != count;
  asked_again_ = false;
  untold_bytes_ = 0;
  due_at_ns_ = INT64_MAX;
  return changed || always ? count : 0;
}

}  // namespace tributary
