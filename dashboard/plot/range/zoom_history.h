// The undo history of zooms. Pure; the newest step is the last one.
//
// At most kStepsMax steps; the oldest is dropped. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/run/series/series.h"

namespace tributary::dashboard {

// Without an x range, all data are shown. A view without an entry in `y` fits its own range.
struct ZoomState {
  std::optional<Extent> x = {};
  std::map<std::uint64_t, Extent> y = {};  // by the number of the view
};

// Whether two states have equal ranges.
bool same(const ZoomState& a, const ZoomState& b);

class ZoomHistory {
 public:
  static constexpr std::size_t kStepsMax = 200;

  const ZoomState& current() const { return steps_[at_]; }
  // Adds a step and forgets the undone ones. A step with the gesture number of the last one
  // replaces it; gesture 0 always is a new step.
  void push(ZoomState state, std::uint64_t gesture = 0);
  bool undo();
  bool redo();
  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < steps_.size(); }

 private:
  std::vector<ZoomState> steps_ = std::vector<ZoomState>(1);
  std::size_t at_ = 0;
  std::uint64_t gesture_ = 0;
};

}  // namespace tributary::dashboard
