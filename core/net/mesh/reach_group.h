// Tells which peers can reach one another, as far as their endpoints show it. The coordinator asks
// before it lets members exchange among themselves.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

// Endpoints of the same group can reach one another.
struct ReachGroup {
  std::uint64_t run = 0;  // of MPI; 0: the endpoint is dialled, as all others of this group are
  friend bool operator==(const ReachGroup&, const ReachGroup&) = default;
};

// What endpoints of different groups are not in, for a reason that is told to operators.
inline constexpr std::string_view kReachGroupName = "one run of MPI";

// An error where the endpoint names its kind and is malformed. Endpoints that are dialled are not
// looked into.
Result<ReachGroup> reach_group(std::string_view endpoint);

}  // namespace tributary
