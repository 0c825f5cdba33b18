// Decides from their endpoints which peers can reach one another. The coordinator checks this
// before it lets members exchange directly.
//
// Reachability is an assumption from the form of the address: two TCP addresses count as reachable
// even if a firewall lies between them. The failed exchange then tells. The functions are pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

// The group of an endpoint. Endpoints of the same group can reach one another.
struct ReachGroup {
  std::uint64_t run = 0;  // number of an MPI run; 0: the endpoint is reached over TCP
  friend bool operator==(const ReachGroup&, const ReachGroup&) = default;
};

// The common property that endpoints of different groups lack. It is part of a reason for
// operators.
inline constexpr std::string_view kReachGroupName = "one run of MPI";

// Returns invalid_argument for a malformed MPI address. Other endpoints are not checked.
Result<ReachGroup> reach_group(std::string_view endpoint);

}  // namespace tributary
