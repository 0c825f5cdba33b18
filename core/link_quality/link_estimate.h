// The properties of a member's link that costs are computed from.
//
// A plain value. Neither number is negative; 0 seconds per byte means that the rate does not limit.
// Every cost model of core/cost and core/plan computes with these two numbers only: a message of n
// bytes takes alpha + n * beta.
#pragma once

namespace tributary {

struct LinkEstimate {
  double alpha_s = 0;          // latency one way: half a round trip
  double beta_s_per_byte = 0;  // inverse of the rate of its own link, in each direction
};

}  // namespace tributary
