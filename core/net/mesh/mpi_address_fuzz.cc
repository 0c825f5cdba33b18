// Fuzz target: an address that parses is written as the same text.
#include <cstdlib>

#include "core/net/mesh/mpi_address.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<MpiAddress> address = parse_mpi_address(text);
  if (address.ok() && (text_of(*address) != text || address->rank >= kMpiRanksMax)) std::abort();
  return 0;
}
