#include "core/link_quality/link_estimator.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

// Smaller transfers are readings of latency until rate and latency are known.
constexpr double kSmallBytes = 8192;
// When one part is subtracted from a reading, at least 1 / kRestMax of it remains.
constexpr double kRestMax = 8;
constexpr double kHalvesMax = 40;  // bound on the halvings of a weight, so that it never becomes 0

// A change is detected if at least kRunMin readings in a row are all slower (or faster) than the
// older ones by the factor kChange, and the probability of that by chance is below kChanceMax. The
// bound also excludes a burst beside a single reading that waited on its own.
constexpr std::size_t kRunMin = 5;
constexpr double kChange = 1.15;
constexpr double kChanceMax = 2e-5;

// False for NaN.
bool within(double value, double least, double most) { return value >= least && value <= most; }

// Probability that `run` readings deviate by chance if `similar` of `older` readings did.
double chance(std::size_t run, std::size_t similar, std::size_t older) {
  const double each = static_cast<double>(similar + 1) / static_cast<double>(older + 1);
  return std::pow(each, static_cast<double>(run));
}

}  // namespace

double MeasuredLink::confidence() const {
  return std::min(alpha_s.confidence, beta_s_per_byte.confidence);
}

double MeasuredLink::age_s() const { return std::max(alpha_s.age_s, beta_s_per_byte.age_s); }

LinkEstimate MeasuredLink::estimate() const {
  return {.alpha_s = alpha_s.known() ? alpha_s.value : 0,
          .beta_s_per_byte = beta_s_per_byte.known() ? beta_s_per_byte.value : 0};
}

void LinkEstimator::Window::push(const Reading& reading) {
  if (size_ == kWindow) drop_oldest(1);
  readings_[size_++] = reading;
}

void LinkEstimator::Window::drop_oldest(std::size_t count) {
  std::copy(readings_.begin() + static_cast<std::ptrdiff_t>(count),
            readings_.begin() + static_cast<std::ptrdiff_t>(size_), readings_.begin());
  size_ -= count;
}

// How many times the latency one way is contained in a transfer of this kind.
double LinkEstimator::latencies(TransferKind kind) {
  switch (kind) {
    case TransferKind::train:
      return 0;
    case TransferKind::one_way:
      return 1;
    case TransferKind::round_trip:
    case TransferKind::acknowledged:
      break;
  }
  return 2;
}

// A reading belongs to the window of the quantity that makes up the larger part of its time.
bool LinkEstimator::measures_latency(const LinkTransfer& transfer) const {
  if (transfer.kind == TransferKind::round_trip) return true;
  if (transfer.kind == TransferKind::train) return false;
  if (!fit_.alpha_known || !fit_.beta_known) return transfer.bytes < kSmallBytes;
  return latencies(transfer.kind) * fit_.alpha_s >= transfer.bytes * fit_.beta_s_per_byte;
}

// Ratio to the expected time, or the time itself while nothing is known.
double LinkEstimator::slowness(const Reading& reading) const {
  const double expected_s = fit_.seconds(latencies(reading.kind), reading.bytes);
  return expected_s > 0 ? reading.seconds / expected_s : reading.seconds;
}

// Merges a reading into the last one if both belong to one slot. Trains follow one another and
// become one longer train. Otherwise the faster reading is kept, because it waited less.
bool LinkEstimator::merge(std::span<Reading> window, const Reading& reading) const {
  if (window.empty() || reading.at_s - window.back().at_s >= kSlot_s) return false;
  Reading& last = window.back();
  if (last.kind == TransferKind::train && reading.kind == TransferKind::train) {
    last.bytes += reading.bytes;
    last.seconds += reading.seconds;
  } else if (slowness(reading) < slowness(last)) {
    const double slot_s = last.at_s;
    last = reading;
    last.at_s = slot_s;
  }
  return true;
}

// Number of readings before a change; 0 if no change is detected.
std::size_t LinkEstimator::older_than_change(std::span<const Reading> window) const {
  std::array<double, kWindow> slowness_of{};
  std::ranges::transform(window, slowness_of.begin(),
                         [this](const Reading& reading) { return slowness(reading); });
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t run = 1; run < window.size(); ++run) {
    const std::size_t older = window.size() - run;
    least = std::min(least, slowness_of[older]);
    most = std::max(most, slowness_of[older]);
    if (run < kRunMin) continue;
    const std::span<const double> before(slowness_of.data(), older);
    const auto as_slow = static_cast<std::size_t>(
        std::ranges::count_if(before, [&](double each) { return each * kChange >= least; }));
    const auto as_fast = static_cast<std::size_t>(
        std::ranges::count_if(before, [&](double each) { return each <= most * kChange; }));
    if (chance(run, std::min(as_slow, as_fast), older) < kChanceMax) return older;
  }
  return 0;
}

// After a change of one quantity, subtracts its old share from the other window's earlier readings.
// Those readings remain valid for the quantity that has not changed.
void LinkEstimator::take_out_changed(bool latency, double changed_at_s) {
  Readings buffer;
  const LinkFit before = fit_link(weighed(changed_at_s, buffer, changed_at_s));
  for (Reading& reading : (latency ? rate_ : latency_).all()) {
    if (reading.at_s >= changed_at_s) continue;
    const double part_s =
        latency ? latencies(reading.kind) * before.alpha_s : reading.bytes * before.beta_s_per_byte;
    reading.seconds = std::max(reading.seconds - part_s, reading.seconds / kRestMax);
    if (latency) {
      reading.kind = TransferKind::train;
    } else {
      reading.bytes = 0;
    }
  }
}

// The readings with their weights at now_s. If only small messages have been sent, bytes are set to
// 0: the time of their bytes then counts as latency.
std::span<const LinkReading> LinkEstimator::weighed(double now_s, Readings& buffer,
                                                    double before_s) const {
  const bool bytes_count =
      !rate_.all().empty() || std::ranges::any_of(latency_.all(), [](const Reading& reading) {
        return reading.kind != TransferKind::round_trip;
      });
  std::size_t count = 0;
  for (const Window* window : {&latency_, &rate_}) {
    for (const Reading& reading : window->all()) {
      if (reading.at_s >= before_s) break;
      const double age_s = std::max(now_s - reading.at_s, 0.0);
      buffer[count++] = {.latencies = latencies(reading.kind),
                         .bytes = bytes_count ? reading.bytes : 0,
                         .seconds = reading.seconds,
                         .weight = std::exp2(-std::min(age_s / kHalfLife_s, kHalvesMax))};
    }
  }
  return {buffer.data(), count};
}

// Adds the reading to its window, then looks for a change in that window, then fits again.
void LinkEstimator::add(const LinkTransfer& transfer) {
  if (!within(transfer.bytes, 1, kBytesMax) ||
      !within(transfer.seconds, kSecondsMin, kSecondsMax) || !std::isfinite(transfer.at_s) ||
      transfer.at_s < newest_at_s_) {
    ++ignored_;
    return;
  }
  ++taken_;
  newest_at_s_ = transfer.at_s;
  const bool of_latency = measures_latency(transfer);
  Window& window = of_latency ? latency_ : rate_;
  const Reading reading = {.at_s = transfer.at_s,
                           .bytes = transfer.bytes,
                           .seconds = transfer.seconds,
                           .kind = transfer.kind};
  if (!merge(window.all(), reading)) window.push(reading);
  const std::size_t older = older_than_change(window.all());
  if (older > 0) {
    ++changes_;
    take_out_changed(of_latency, window.all()[older].at_s);
    window.drop_oldest(older);
  }
  Readings buffer;
  fit_ = fit_link(weighed(transfer.at_s, buffer));
}

// Age of the newest reading in which the quantity has at least half of its largest share.
double LinkEstimator::age_of(const LinkFit& fit, bool of_alpha, double now_s) const {
  const auto part = [&](const Reading& reading) {
    const double alpha_s = latencies(reading.kind) * fit.alpha_s;
    const double beta_s = reading.bytes * fit.beta_s_per_byte;
    return alpha_s + beta_s > 0 ? (of_alpha ? alpha_s : beta_s) / (alpha_s + beta_s) : 0;
  };
  double most = 0;
  for (const Window* window : {&latency_, &rate_}) {
    for (const Reading& reading : window->all()) most = std::max(most, part(reading));
  }
  double age_s = std::numeric_limits<double>::infinity();
  for (const Window* window : {&latency_, &rate_}) {
    for (const Reading& reading : window->all()) {
      if (part(reading) * 2 < most) continue;
      age_s = std::min(age_s, std::max(now_s - reading.at_s, 0.0));
    }
  }
  return age_s;
}

// The weights depend on the time of the question, so the fit is computed anew.
MeasuredLink LinkEstimator::measured(double now_s) const {
  Readings buffer;
  const LinkFit fit = fit_link(weighed(now_s, buffer));
  MeasuredLink link;
  if (fit.alpha_known) {
    link.alpha_s = {.value = fit.alpha_s,
                    .confidence = fit.alpha_confidence,
                    .age_s = age_of(fit, true, now_s)};
  }
  if (fit.beta_known) {
    link.beta_s_per_byte = {.value = fit.beta_s_per_byte,
                            .confidence = fit.beta_confidence,
                            .age_s = age_of(fit, false, now_s)};
  }
  return link;
}

}  // namespace tributary
