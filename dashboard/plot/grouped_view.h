// A view as its group knows it.
#pragma once

#include <optional>

#include "core/run/units/extent.h"

namespace tributary::dashboard {

class GroupedView {
 public:
  // What its content covers along x; nothing without content.
  virtual std::optional<Extent> data_extent() const = 0;
  // Paints at once, if there is something new. The group calls it 30 times a second at most.
  virtual void refresh() = 0;

 protected:
  ~GroupedView() = default;  // a group owns no view
};

}  // namespace tributary::dashboard
