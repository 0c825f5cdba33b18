#include "core/collective/in_network/chunk_window.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>

namespace tributary::in_network {
namespace {

constexpr std::uint32_t kBackoffMax = 6;
// Packets may overtake others by this part of a round trip.
constexpr std::int64_t kOvertakingPart = 4;
// A repeat needs the repeats of the other agents, which notice the loss at other times.
constexpr std::int64_t kOvertakingPartOfRepeats = 2;
// Standard deviations above the share of losses from which on they are no chance.
constexpr double kDeviations = 2;
// A window below the first grows by this part of itself, so that it soon leaves the sizes in which
// chance counts.
constexpr std::uint32_t kSmallChunks = 32;
constexpr std::uint32_t kGrowthPart = 4;
// A window of that size and more does not grow while round trips take this multiple of the shortest
// one: a queue has the rest.
constexpr std::int64_t kQueueRoundTrips = 4;
// A result may be late by this part of a round trip before its chunk is probed.
constexpr std::int64_t kProbePart = 2;
// A chunk that was under way during time-outs counts as a round trip of so many time-outs at most.
// With one, a queue that made round trips longer was not noticed, and everything was repeated.
constexpr std::int64_t kLongestTimeOuts = 4;
// Fewer chunks may all have been lost by chance.
constexpr std::uint32_t kDeadPathChunks = 8;

}  // namespace

// A chunk misses its result if any agent's contribution or the result is lost.
ChunkWindow::ChunkWindow(const SlotClientOptions& options)
    : options_(options),
      lost_share_max_(1 - std::pow(1 - kPacketLossMax, options.agents + 1.0)),
      chunks_(std::min(options.window, options.slots)) {
  assert(options.slots >= 1 && options.slots <= 65'536 && options.window >= 1);
}

bool ChunkWindow::is_lost(std::int64_t sent_ns, bool repeated) const {
  if (answered_ns_ == INT64_MIN) return false;
  const std::int64_t part_ns =
      repeated ? smoothed_ns_ / kOvertakingPartOfRepeats : shortest_ns_ / kOvertakingPart;
  return answered_ns_ - sent_ns > part_ns;
}

void ChunkWindow::count(std::uint32_t lost) {
  lost_ += lost;
  if (++counted_ < chunks_) return;
  only_repeats_ = first_results_ == 0 && counted_ >= kDeadPathChunks;
  // In a small window, chance alone is often above the share.
  const double share = lost_share_max_ * counted_;
  const bool too_many = lost_ > 1 && lost_ > share + kDeviations * std::sqrt(share);
  if (!too_many) {
    const std::uint32_t more = chunks_ < kSmallChunks ? chunks_ / kGrowthPart : 0;
    if (!queued()) chunks_ = std::min(chunks_ + std::max(more, 1u), options_.slots);
  } else if (!only_repeats_) {
    chunks_ = std::max(chunks_ / 2, 1u);
  }
  counted_ = lost_ = first_results_ = 0;
}

bool ChunkWindow::queued() const {
  return chunks_ >= kSmallChunks && smoothed_ns_ / kQueueRoundTrips > shortest_ns_;
}

void ChunkWindow::on_result(bool repeated, bool lost) {
  first_results_ += repeated ? 0u : 1u;
  answered_ = true;
  silence_.probes = 0;
  count(lost ? 1 : 0);
}

void ChunkWindow::on_answer(std::int64_t sent_ns, std::int64_t now_ns, bool repeated) {
  const bool waited = sent_ns < silence_.timed_out_ns;  // for a slow agent, or for a repeat
  if (silence_.backoff > 0) {
    silence_.timed_out_ns = now_ns;
    silence_.by_repeats = true;
  }
  silence_.backoff = 0;
  silence_.by_repeats &= repeated;
  if (repeated && !only_repeats_) return;
  std::int64_t round_trip_ns = now_ns - sent_ns;
  if (!repeated || round_trip_ns >= shortest_ns_) answered_ns_ = std::max(answered_ns_, sent_ns);
  shortest_ns_ = std::min(shortest_ns_, round_trip_ns);
  if (waited) round_trip_ns = std::min(round_trip_ns, silence_.longest_ns);
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
  return std::min(bounded << silence_.backoff, options_.timeout_ns_max);
}

std::int64_t ChunkWindow::probe_ns() const {
  if (smoothed_ns_ == 0) return INT64_MAX;
  return smoothed_ns_ + std::max(smoothed_ns_ / kProbePart, 4 * deviation_ns_);
}

std::int64_t ChunkWindow::patience_ns() const { return probing() ? probe_ns() : timeout_ns(); }

ChunkWindow::Overdue ChunkWindow::on_overdue(std::int64_t sent_ns, std::int64_t now_ns) {
  const bool one = one_by_one();
  silence_.by_repeats = false;
  if (probing()) {
    ++silence_.probes;
    return one ? Overdue::probe : Overdue::all;
  }
  if (silence_.backoff == 0) silence_.longest_ns = kLongestTimeOuts * timeout_ns();
  if (one || sent_ns > silence_.timed_out_ns) {
    silence_.timed_out_ns = now_ns;
    silence_.backoff = std::min(silence_.backoff + 1, kBackoffMax);
  }
  return one ? Overdue::oldest : Overdue::all;
}

}  // namespace tributary::in_network
