// Where a rank of an mpirun is found, as an agent tells its peers: "mpi://00c0ffee00c0ffee/3" is
// rank 3 of that run. Runs are told apart by a number that each draws for itself, so that a rank of
// another run is never mistaken for one's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

inline constexpr std::uint32_t kMpiRanksMax = 65'536;

struct MpiAddress {
  std::uint64_t run = 0;  // never 0
  std::uint32_t rank = 0;
  friend bool operator==(const MpiAddress&, const MpiAddress&) = default;
};

// By how it begins: whether it is a good one, parse_mpi_address() says.
bool is_mpi_address(std::string_view endpoint);
// There is one way to write each.
Result<MpiAddress> parse_mpi_address(std::string_view endpoint);
std::string text_of(const MpiAddress& address);

}  // namespace tributary
