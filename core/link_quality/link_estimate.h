// The properties of a member's link that costs are computed from.
#pragma once

namespace tributary {

struct LinkEstimate {
  double alpha_s = 0;          // latency one way: half a round trip
  double beta_s_per_byte = 0;  // inverse of the rate of its own link, in each direction
};

}  // namespace tributary
