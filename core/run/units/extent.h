// A range of values; both ends are included.
//
// A plain value. It is empty if low > high; functions that take one say what they do then.
#pragma once

namespace tributary {

struct Extent {
  double low = 0;
  double high = 0;
};

}  // namespace tributary
