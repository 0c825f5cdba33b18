// The zooms that a person can take back, newest last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/run/series/series.h"

namespace tributary::dashboard {

// Without an x range the picture shows all there is; a view that is not in `y` fits its own.
struct ZoomState {
  std::optional<Extent> x = {};
  std::map<std::uint64_t, Extent> y = {};  // by the view's number
};

bool same(const ZoomState& a, const ZoomState& b);

class ZoomHistory {
 public:
  static constexpr std::size_t kStepsMax = 200;

  const ZoomState& current() const { return steps_[at_]; }
  // Forgets what was undone. A step of the same gesture as the last one replaces it; gesture 0 is
  // always a step of its own.
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
