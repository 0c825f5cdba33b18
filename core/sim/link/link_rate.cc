#include "core/sim/link/link_rate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tributary {
namespace {

constexpr double kBitsPerNs = 1e-3;  // at 1 Mbit/s

}  // namespace

// Each link begins at a random place of its first step, so that links do not change in unison.
LinkRate::LinkRate(double mbit_s, std::vector<RateStep> steps, SeededDraws draws)
    : mbit_s_(mbit_s), steps_(std::move(steps)), draws_(draws) {
  if (steps_.empty()) return;
  known_.push_back(next_step());
  const double left = 1 - draws_.uniform();  // time 0 lies within the first step
  TimeNs& ends = known_.back().ends_at_ns;
  ends = std::max<TimeNs>(1, static_cast<TimeNs>(static_cast<double>(ends) * left));
}

LinkRate::LinkRate(std::shared_ptr<const LinkTrace> trace, TimeNs offset_ns)
    : trace_(std::move(trace)) {
  // Finds the step of the offset.
  TimeNs past = offset_ns % trace_->lasts().count();
  for (; past >= trace_->steps()[next_].lasts.count(); ++next_) {
    past -= trace_->steps()[next_].lasts.count();
  }
  known_.push_back(next_step());
  known_.back().ends_at_ns -= past;
}

// The step after the last known one. Steps repeat in their order.
LinkRate::Step LinkRate::next_step() {
  const TimeNs begins = known_.empty() ? 0 : known_.back().ends_at_ns;
  const std::size_t place = next_;
  next_ = (next_ + 1) % (trace_ ? trace_->steps().size() : steps_.size());
  if (trace_) {
    const TraceStep& step = trace_->steps()[place];
    return {.ends_at_ns = begins + step.lasts.count(),
            .mbit_s = static_cast<double>(step.bytes_per_s) * 8e-6,
            .delay_ns = step.delay.count()};
  }
  const RateStep& step = steps_[place];
  const double factor = draw_log_uniform(step.factor, draws_);
  const TimeNs lasts = draw_ns({1e3 * step.seconds.low, 1e3 * step.seconds.high}, draws_);
  return {.ends_at_ns = begins + std::max<TimeNs>(1, lasts), .mbit_s = mbit_s_ * factor};
}

// Steps are drawn when they are first needed and kept, because messages ask for times in any order.
std::size_t LinkRate::place_at(TimeNs at) {
  while (known_.back().ends_at_ns <= at) known_.push_back(next_step());
  const auto found = std::ranges::upper_bound(known_, at, {}, &Step::ends_at_ns);
  return static_cast<std::size_t>(found - known_.begin());
}

// Sends the bytes step by step until all have left.
TimeNs LinkRate::last_byte_at(TimeNs from, std::uint64_t bytes) {
  if (constant()) return from + static_cast<TimeNs>(static_cast<double>(bytes) * 8e3 / mbit_s_);
  double bits = static_cast<double>(bytes) * 8;
  TimeNs at = from;
  for (std::size_t place = place_at(at);; ++place) {
    if (place == known_.size()) known_.push_back(next_step());
    const Step& step = known_[place];
    if (step.mbit_s == 0) return at;  // no limit
    const double bits_per_ns = step.mbit_s * kBitsPerNs;
    const double capacity = bits_per_ns * static_cast<double>(step.ends_at_ns - at);
    if (bits <= capacity) {
      // Rounding must not go beyond the end of the step.
      return std::min(at + static_cast<TimeNs>(std::round(bits / bits_per_ns)), step.ends_at_ns);
    }
    bits -= capacity;
    at = step.ends_at_ns;
  }
}

TimeNs LinkRate::delay_ns(TimeNs at) {
  return trace_ == nullptr ? 0 : known_[place_at(at)].delay_ns;
}

void LinkRate::forget_before(TimeNs now) {
  if (constant()) return;
  known_.erase(known_.begin(), known_.begin() + static_cast<std::ptrdiff_t>(place_at(now)));
}

}  // namespace tributary
