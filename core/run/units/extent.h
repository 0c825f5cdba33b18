// A range of values; both ends are included.
#pragma once

namespace tributary {

struct Extent {
  double low = 0;
  double high = 0;
};

}  // namespace tributary
