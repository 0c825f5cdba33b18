#include "core/round/coordinator/uploads/upload_progress.h"

#include <algorithm>

namespace tributary {
namespace {

// A shorter span would measure bursts instead of the link.
constexpr TimeNs kSpanMinNs = 1'000'000'000;
constexpr std::uint32_t kSpanPartsMin = 2;  // in addition to the first part of the span
// A gap between payloads that is this many times the usual one, and at least a second, is a pause
// of the sender.
constexpr TimeNs kPauseFactor = 4;
constexpr TimeNs kPauseMinNs = 1'000'000'000;
// Parts at least this many round trips apart are limited by the link.
constexpr TimeNs kLinkRoundTrips = 2;
// After this many round trips the sender knows the link.
constexpr TimeNs kStartRoundTrips = 10;

}  // namespace

void UploadRate::begin_span(TimeNs now) {
  span_began_ns_ = last_ns_ = now;
  bytes_ = 0;
  parts_ = 0;
}

void UploadRate::part(TimeNs now, std::uint64_t bytes, bool continues, TimeNs round_trip_ns) {
  if (first_ns_ < 0) {
    first_ns_ = now;
    return begin_span(now);
  }
  const TimeNs gap = now - last_ns_;
  const TimeNs usual = parts_ > 0 ? (last_ns_ - span_began_ns_) / parts_ : 0;
  if (!continues && parts_ > 0 && gap > std::max(kPauseFactor * usual, kPauseMinNs)) {
    return begin_span(now);
  }
  if (parts_ == 0) may_be_pause_ = !continues && gap > kPauseMinNs;
  if (parts_ == 1 && may_be_pause_ && usual > kPauseFactor * gap) begin_span(last_ns_);
  bytes_ += bytes;
  ++parts_;
  last_ns_ = now;
  const TimeNs span = now - span_began_ns_;
  if (span < kSpanMinNs || parts_ < kSpanPartsMin) return;
  const bool by_the_link = span >= kLinkRoundTrips * round_trip_ns * parts_;
  const bool started = span_began_ns_ - first_ns_ >= kStartRoundTrips * round_trip_ns;
  if (by_the_link || started) {
    const double rate = static_cast<double>(bytes_) / (static_cast<double>(span) / 1e9);
    // The first span alone sets no rate, because it may contain a pause.
    if (last_span_ > 0) bytes_per_s_ = std::max(rate, last_span_);
    last_span_ = rate;
  }
  begin_span(now);
}

UploadSizes::UploadSizes(const RoundPlan& plan) : plan_(plan) {
  for (const PlannedBucket& bucket : plan.buckets()) {
    const auto known = std::ranges::find(groups_, bucket.codec.get(), &Group::codec);
    const auto first = static_cast<std::uint32_t>(known - groups_.begin());
    if (known == groups_.end()) {
      for (std::uint32_t stage = 0; stage < bucket.stages(); ++stage) {
        groups_.push_back(
            {.codec = bucket.codec.get(),
             .stage = stage,
             .of_one_agent = bucket.codec->stages()[stage].combine == Combine::broadcast});
      }
    }
    for (std::uint32_t stage = 0; stage < bucket.stages(); ++stage) {
      groups_[first + stage].values += bucket.values;
    }
    first_group_.push_back(first);
  }
}

void UploadSizes::take(UploadProgress& progress, const UploadedPart& part, TimeNs now,
                       TimeNs round_trip_ns) const {
  const bool continues =
      progress.incomplete && progress.bucket == part.bucket && progress.stage == part.stage;
  // Between two stages the agent waits for an aggregate.
  if (progress.stage != part.stage) progress.rate.interrupted();
  progress.rate.part(now, part.bytes, continues, round_trip_ns);
  progress.bucket = part.bucket;
  progress.stage = part.stage;
  progress.incomplete = part.offset + part.bytes < part.stage_bytes;
  // The size of a payload is counted once, with its first part.
  if (part.offset > 0) return;
  if (progress.known.empty()) progress.known.resize(groups_.size());
  // A standalone payload is about as large as one of the last stage.
  const std::uint32_t stage = std::min(part.stage, plan_.buckets()[part.bucket].last_stage());
  UploadProgress::Sizes& sizes = progress.known[first_group_[part.bucket] + stage];
  sizes.bytes += static_cast<double>(part.stage_bytes);
  sizes.values += plan_.buckets()[part.bucket].values;
}

void UploadSizes::add_to(std::span<UploadProgress::Sizes> all,
                         const UploadProgress& progress) const {
  for (std::size_t i = 0; i < progress.known.size(); ++i) {
    all[i].bytes += progress.known[i].bytes;
    all[i].values += progress.known[i].values;
  }
}

double UploadSizes::update_bytes(const UploadProgress& progress,
                                 std::span<const UploadProgress::Sizes> all) const {
  double bytes = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const bool own = i < progress.known.size() && progress.known[i].values > 0;
    if (!own && groups_[i].of_one_agent) continue;
    const UploadProgress::Sizes& sizes = own ? progress.known[i] : all[i];
    if (sizes.values > 0) bytes += groups_[i].values * sizes.bytes / sizes.values;
  }
  return bytes;
}

}  // namespace tributary
