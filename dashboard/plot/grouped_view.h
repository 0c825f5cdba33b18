// The interface of a view to its group. A group of plots zooms together and is repainted together.
// A view registers itself with its group and leaves it before it is destroyed. GUI thread only.
#pragma once

#include <optional>

#include "core/run/units/extent.h"

namespace tributary::dashboard {

class GroupedView {
 public:
  // Returns the x range of the content; empty without content.
  virtual std::optional<Extent> data_extent() const = 0;
  // Repaints if anything is new. The group calls it at most 30 times a second.
  virtual void refresh() = 0;

 protected:
  ~GroupedView() = default;  // a group owns no view
};

}  // namespace tributary::dashboard
