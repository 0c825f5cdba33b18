#include "core/net/mesh/reach_group.h"

#include "core/net/mesh/mpi_address.h"

namespace tributary {

Result<ReachGroup> reach_group(std::string_view endpoint) {
  if (!is_mpi_address(endpoint)) return ReachGroup{};
  TRIBUTARY_ASSIGN(const MpiAddress address, parse_mpi_address(endpoint));
  return ReachGroup{.run = address.run};
}

}  // namespace tributary
