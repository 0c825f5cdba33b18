#include "dashboard/plot/range/zoom_history.h"

#include <algorithm>
#include <utility>

namespace tributary::dashboard {
namespace {

bool same_extent(const Extent& a, const Extent& b) { return a.low == b.low && a.high == b.high; }

}  // namespace

// Exact comparison: a zoom that changes nothing is no step.
bool same(const ZoomState& a, const ZoomState& b) {
  if (a.x.has_value() != b.x.has_value()) return false;
  if (a.x && !same_extent(*a.x, *b.x)) return false;
  return std::equal(a.y.begin(), a.y.end(), b.y.begin(), b.y.end(),
                    [](const auto& one, const auto& other) {
                      return one.first == other.first && same_extent(one.second, other.second);
                    });
}

void ZoomHistory::push(ZoomState state, std::uint64_t gesture) {
  if (same(state, current())) return;
  steps_.resize(at_ + 1);
  // Steps of one gesture, such as turns of the wheel, become one step.
  const bool goes_on = gesture != 0 && gesture == gesture_ && at_ > 0;
  gesture_ = gesture;
  if (goes_on) {
    steps_[at_] = std::move(state);
    return;
  }
  steps_.push_back(std::move(state));
  if (steps_.size() > kStepsMax) steps_.erase(steps_.begin());
  at_ = steps_.size() - 1;
}

// The gesture ends, so that the next zoom becomes a step of its own.
bool ZoomHistory::undo() {
  if (!can_undo()) return false;
  --at_;
  gesture_ = 0;
  return true;
}

bool ZoomHistory::redo() {
  if (!can_redo()) return false;
  ++at_;
  gesture_ = 0;
  return true;
}

}  // namespace tributary::dashboard
