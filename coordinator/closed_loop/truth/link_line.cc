#include "coordinator/closed_loop/truth/link_line.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

constexpr double kSecondsPerByteAtOneMbit = 8e-6;
// A transfer continues this much after a change, so that rounding cannot keep it before it.
constexpr double kLeastAdvance_s = 1e-9;

}  // namespace

LinkLine::LinkLine(const std::vector<LinkStep>& steps, double offset_s) : offset_s_(offset_s) {
  double ends_s = 0;
  for (const LinkStep& step : steps) {
    ends_s += step.seconds;
    const double s_per_byte =
        step.rate_mbit_s > 0 ? kSecondsPerByteAtOneMbit / step.rate_mbit_s : 0;
    stages_.push_back(
        {.ends_s = ends_s, .s_per_byte = s_per_byte, .latency_s = step.delay_ms * 1e-3});
  }
}

double LinkLine::place_of(double at_s) const {
  return std::fmod(at_s + offset_s_, stages_.back().ends_s);
}

const LinkLine::Stage& LinkLine::stage_at(double at_s) const {
  if (stages_.size() == 1) return stages_.front();
  const auto found = std::ranges::upper_bound(stages_, place_of(at_s), {}, &Stage::ends_s);
  return found == stages_.end() ? stages_.back() : *found;
}

double LinkLine::next_change_s(double at_s) const {
  if (stages_.size() == 1) return kNever;
  return at_s + std::max(stage_at(at_s).ends_s - place_of(at_s), kLeastAdvance_s);
}

double LinkLine::sent_at(double from_s, double bytes) const {
  double now_s = from_s;
  double left = bytes;
  while (left > 0) {
    const double s_per_byte = seconds_per_byte(now_s);
    const double change_s = next_change_s(now_s);
    const double done_s = now_s + left * s_per_byte;
    if (done_s <= change_s) return done_s;
    left -= (change_s - now_s) / s_per_byte;
    now_s = change_s;
  }
  return now_s;
}

LinkLine LinkLine::frozen(double at_s) const {
  LinkLine line;
  line.stages_.front() = stage_at(at_s);
  return line;
}

}  // namespace tributary
