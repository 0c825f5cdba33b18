#include "core/link_quality/link_prober.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

constexpr double kHour_s = 3600;
constexpr std::uint32_t kUnansweredMax = 30;  // bound on the number of doublings

// While the rate is unknown, a short train determines the length of the next one. A train uses at
// most a fourth of the remaining budget, so that others remain to confirm it.
LinkProbe train_for(const LinkQuantity& beta_s_per_byte, double left_bytes) {
  double bytes = 0;
  if (beta_s_per_byte.known() && beta_s_per_byte.value > 0) {
    bytes = std::min(LinkProber::kTrain_s / beta_s_per_byte.value, left_bytes / 4);
  }
  bytes = std::clamp(bytes, LinkProber::kTrainBytesMin, LinkProber::kTrainBytesMax);
  return {.kind = TransferKind::train,
          .parts = LinkProber::kTrainParts,
          .padding_bytes = static_cast<std::uint32_t>(bytes / LinkProber::kTrainParts)};
}

}  // namespace

double LinkProbe::bytes() const { return parts * (padding_bytes + 2 * LinkProber::kMessageBytes); }

void LinkProber::carried(double now_s, double bytes) {
  if (!(bytes > 0 && std::isfinite(bytes)) || !std::isfinite(now_s)) return;
  now_s_ = std::max(now_s_, now_s);
  last_carried_s_ = now_s_;
  carried_bytes_ += bytes;
}

double LinkProber::budget_bytes(double now_s) const {
  const double hours = std::floor(std::max(now_s - began_s_, 0.0) / kHour_s) + 1;
  return options_.share_max * carried_bytes_ + options_.allowance_bytes_per_hour * hours;
}

// True if the quantity is unknown, too inaccurate or too old.
bool LinkProber::needs_probe(const LinkQuantity& quantity) const {
  return !quantity.known() || quantity.confidence < options_.confidence_min ||
         quantity.age_s > options_.age_max_s;
}

// Charges the probe to the budget and schedules the next one. Every probe counts as unanswered
// until answered().
bool LinkProber::take(const LinkProbe& probe) {
  if (probe_bytes_ + probe.bytes() > budget_bytes(now_s_)) return false;
  probe_bytes_ += probe.bytes();
  const double spacing_s = options_.spacing_s * std::exp2(unanswered_);
  next_at_s_ = now_s_ + std::min(spacing_s, options_.spacing_max_s);
  unanswered_ = std::min(unanswered_ + 1, kUnansweredMax);
  train_is_next_ = probe.kind == TransferKind::round_trip;
  return true;
}

std::optional<LinkProbe> LinkProber::next(double now_s, const MeasuredLink& known) {
  if (!std::isfinite(now_s)) return std::nullopt;
  now_s_ = std::max(now_s_, now_s);
  if (now_s_ - last_carried_s_ < options_.quiet_s || now_s_ < next_at_s_) return std::nullopt;
  const bool trip = needs_probe(known.alpha_s);
  const bool train = needs_probe(known.beta_s_per_byte);
  // A train that does not fit the budget waits, and a round trip may go first.
  const LinkProbe long_one = train_for(known.beta_s_per_byte, budget_bytes(now_s_) - probe_bytes_);
  if (train && (train_is_next_ || !trip) && take(long_one)) return long_one;
  if (trip && take(LinkProbe{})) return LinkProbe{};
  return std::nullopt;
}

}  // namespace tributary
