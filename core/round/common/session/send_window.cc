#include "core/round/common/session/send_window.h"

#include <algorithm>

namespace tributary {
namespace {

constexpr TimeNs kMs = 1'000'000;
// Time that a part should take on the link, within the limits of its size.
constexpr double kPartTime_s = 0.18;
// On fast links parts are shorter than that: 256 KiB already make the cost of frames negligible,
// and beyond that a part takes 20 ms.
constexpr double kFastPartTime_s = 0.02;
constexpr double kPartBytesUsual = 256 << 10;
constexpr std::uint32_t kPartBytesStep = 1u << 10;
// Margins beyond the round trip, so that a late acknowledgement does not leave the link idle.
constexpr double kMargin = 1.15;
constexpr double kMarginFilling = 2.9;
constexpr double kMarginTime_s = 0.05;
// The link is full if its rate grew by less than this factor in 3 consecutive round trips.
constexpr double kGrowth = 1.25;
constexpr int kRoundsWithoutGrowthMax = 3;
// The link is also full if a part took this much longer than the minimum round trip, that is,
// waited in a queue.
constexpr double kQueueOfFullLink_s = 0.15;
constexpr double kLateOfFullLink = 1.25;
// The rate is the maximum over this span. Frames acknowledged together give a rate that is too
// high; the span limits how long such a sample hides a slower link.
constexpr TimeNs kRateSpanNs = 2'000 * kMs;
constexpr TimeNs kRateSpanRoundTrips = 8;
constexpr std::size_t kRatesMax = 64;
// Time for which a minimum round trip is valid. Afterwards the link is drained once to measure it
// again.
constexpr TimeNs kRoundTripSpanNs = 20'000 * kMs;

double seconds(TimeNs ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

double SendWindow::bytes_per_s() const { return rates_.empty() ? 0 : rates_.front().bytes_per_s; }

TimeNs SendWindow::round_trip_min_ns() const {
  if (least_ns_ == 0 || least_before_ns_ == 0) return std::max(least_ns_, least_before_ns_);
  return std::min(least_ns_, least_before_ns_);
}

std::uint32_t SendWindow::part_bytes() const {
  const double rate = bytes_per_s();
  const double usual =
      std::max(std::min(rate * kPartTime_s, kPartBytesUsual), rate * kFastPartTime_s);
  const auto most = static_cast<double>(limits_.part_bytes_max);
  const auto bytes = static_cast<std::uint32_t>(std::min(usual, most)) / kPartBytesStep;
  return std::min(std::max(bytes * kPartBytesStep, kPartBytesMin), limits_.part_bytes_max);
}

std::uint64_t SendWindow::window_bytes() const {
  const double margin = filling_ ? kMarginFilling : kMargin;
  const double ahead =
      bytes_per_s() * (margin * seconds(round_trip_min_ns()) + kMarginTime_s) + part_bytes();
  return static_cast<std::uint64_t>(std::min(ahead, static_cast<double>(limits_.window_bytes_max)));
}

bool SendWindow::open(TimeNs now) const {
  // One part may always be sent, or an unmeasured link would never be measured.
  if (under_way_ == 0) return true;
  if (now - clean_at_ns_ > kRoundTripSpanNs) return false;  // until the link is drained
  return under_way_ <= window_bytes() && under_way_ + part_bytes() <= limits_.window_bytes_max;
}

bool SendWindow::needs_round_trip(TimeNs now) const {
  return under_way_ == 0 && clean_at_ns_ != 0 && now - clean_at_ns_ > kRoundTripSpanNs;
}

SendWindow::Sent SendWindow::sent(TimeNs now, std::uint32_t bytes) {
  if (under_way_ == 0) {  // the link was idle: rates count from here
    delivered_at_ns_ = delivered_sent_at_ns_ = now;
    if (clean_at_ns_ == 0 || needs_round_trip(now)) clean_at_ns_ = now;
  }
  Sent sent{.at_ns = now,
            .bytes = bytes,
            .delivered = delivered_,
            .delivered_at_ns = delivered_at_ns_,
            .delivered_sent_at_ns = delivered_sent_at_ns_,
            .starved = delivered_ < starved_until_};
  under_way_ += bytes;
  return sent;
}

void SendWindow::nothing_to_send() {
  starved_until_ = std::max<std::uint64_t>(delivered_ + under_way_, 1);
}

void SendWindow::acknowledged(TimeNs now, const Sent& sent, bool repeated) {
  under_way_ -= std::min<std::uint64_t>(under_way_, sent.bytes);
  delivered_ += sent.bytes;
  delivered_at_ns_ = now;
  delivered_sent_at_ns_ = sent.at_ns;
  if (repeated) return;
  // The longer of the two intervals: acknowledgements may arrive in a burst, and parts may be sent
  // in a burst. Both would overestimate the rate.
  const TimeNs interval =
      std::max(now - sent.delivered_at_ns, sent.at_ns - sent.delivered_sent_at_ns);
  const double rate =
      interval > 0 ? static_cast<double>(delivered_ - sent.delivered) / seconds(interval) : 0;
  // A starved sender measures its own pauses. Such a sample counts only if it is not lower than the
  // known rate.
  if (rate > 0 && (!sent.starved || rate >= bytes_per_s())) add_rate(now, rate);
  if (filling_) look_whether_full(now, sent);
}

void SendWindow::look_whether_full(TimeNs now, const Sent& sent) {
  const double least_s = seconds(round_trip_min_ns());
  const double took_s = seconds(now - sent.at_ns) - sent.bytes / std::max(bytes_per_s(), 1.0);
  if (least_s > 0 && took_s > kLateOfFullLink * least_s + kQueueOfFullLink_s) {
    filling_ = false;  // parts wait in a queue
    return;
  }
  if (delivered_ < filled_round_ends_) return;
  // One round trip has passed since the last check.
  filled_round_ends_ = delivered_ + under_way_;
  if (bytes_per_s() >= filled_rate_ * kGrowth) {
    filled_rate_ = bytes_per_s();
    rounds_without_growth_ = 0;
  } else if (!sent.starved) {
    filling_ = ++rounds_without_growth_ < kRoundsWithoutGrowthMax;
  }
}

void SendWindow::add_rate(TimeNs now, double bytes_per_s) {
  const TimeNs span = std::max(kRateSpanNs, kRateSpanRoundTrips * round_trip_min_ns());
  while (!rates_.empty() && rates_.front().at_ns < now - span) rates_.pop_front();
  // A sliding-window maximum: samples lower than a newer one can never become the maximum.
  while (!rates_.empty() && rates_.back().bytes_per_s <= bytes_per_s) rates_.pop_back();
  if (rates_.size() < kRatesMax) rates_.push_back({.at_ns = now, .bytes_per_s = bytes_per_s});
}

void SendWindow::add_round_trip(TimeNs now, TimeNs took_ns) {
  if (now - span_began_ns_ > kRoundTripSpanNs) {
    span_began_ns_ = now;
    least_before_ns_ = least_ns_;
    least_ns_ = 0;
  }
  least_ns_ = least_ns_ == 0 ? took_ns : std::min(least_ns_, took_ns);
}

void SendWindow::round_trip(TimeNs now, TimeNs took_ns) {
  if (took_ns <= 0) return;
  add_round_trip(now, took_ns);
  if (under_way_ == 0) clean_at_ns_ = now;
}

}  // namespace tributary
