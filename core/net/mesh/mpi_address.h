// The address of a rank of an mpirun, which an agent sends to its peers: "mpi://00c0ffee00c0ffee/3"
// is rank 3 of that run. Each run draws a random number, so that a rank of another run is never
// mistaken for one of this run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

inline constexpr std::uint32_t kMpiRanksMax = 65'536;  // limit of the ranks of one run

struct MpiAddress {
  std::uint64_t run = 0;  // random number of the run; never 0
  std::uint32_t rank = 0;
  friend bool operator==(const MpiAddress&, const MpiAddress&) = default;
};

// Checks only the beginning of the text. parse_mpi_address() checks the rest.
bool is_mpi_address(std::string_view endpoint);
// Returns invalid_argument unless `endpoint` is exactly the text that text_of() writes for the
// address.
Result<MpiAddress> parse_mpi_address(std::string_view endpoint);
std::string text_of(const MpiAddress& address);

}  // namespace tributary
