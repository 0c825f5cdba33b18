#include "core/collective/in_network/chunk_window.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

namespace tributary::in_network {
namespace {

constexpr std::uint32_t kBackoffMax = 6;

}  // namespace

ChunkWindow::ChunkWindow(const SlotClientOptions& options)
    : options_(options), chunks_(std::min(options.window, options.slots)) {
  assert(options.slots >= 1 && options.slots <= 65'536 && options.window >= 1);
}

void ChunkWindow::on_result() {
  if (++results_ < chunks_) return;
  results_ = 0;
  chunks_ = std::min(chunks_ + 1, options_.slots);
}

void ChunkWindow::on_round_trip(std::int64_t round_trip_ns) {
  backoff_ = 0;
  if (smoothed_ns_ == 0) {
    smoothed_ns_ = std::max<std::int64_t>(round_trip_ns, 1);
    deviation_ns_ = round_trip_ns / 2;
    return;
  }
  deviation_ns_ += (std::abs(round_trip_ns - smoothed_ns_) - deviation_ns_) / 4;
  smoothed_ns_ += (round_trip_ns - smoothed_ns_) / 8;
}

std::int64_t ChunkWindow::timeout_ns() const {
  const std::int64_t plain =
      smoothed_ns_ == 0 ? options_.timeout_ns_first : smoothed_ns_ + 4 * deviation_ns_;
  const std::int64_t bounded = std::max(plain, options_.timeout_ns_min);
  return std::min(bounded << backoff_, options_.timeout_ns_max);
}

void ChunkWindow::on_loss(std::int64_t sent_ns, std::int64_t now_ns) {
  if (sent_ns <= halved_ns_) return;
  halved_ns_ = now_ns;
  chunks_ = std::max(chunks_ / 2, 1u);
  results_ = 0;
  backoff_ = std::min(backoff_ + 1, kBackoffMax);
}

}  // namespace tributary::in_network
