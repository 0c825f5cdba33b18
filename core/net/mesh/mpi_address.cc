#include "core/net/mesh/mpi_address.h"

#include <fmt/format.h>

#include <charconv>

namespace tributary {
namespace {

constexpr std::string_view kScheme = "mpi://";
constexpr std::size_t kRunDigits = 16;
constexpr std::size_t kTextBytesMax = 64;  // of the text that an error repeats

// Parses `text` as one number. Returns false if it contains anything else.
template <typename Number>
bool read(std::string_view text, int base, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool is_mpi_address(std::string_view endpoint) { return endpoint.starts_with(kScheme); }

Result<MpiAddress> parse_mpi_address(std::string_view endpoint) {
  MpiAddress address;
  const bool good = endpoint.size() > kScheme.size() + kRunDigits && is_mpi_address(endpoint) &&
                    read(endpoint.substr(kScheme.size(), kRunDigits), 16, address.run) &&
                    read(endpoint.substr(kScheme.size() + kRunDigits + 1), 10, address.rank) &&
                    address.run != 0 && address.rank < kMpiRanksMax && text_of(address) == endpoint;
  if (good) return address;
  return Status(StatusCode::invalid_argument,
                {.what = "the address of a rank of MPI",
                 .expected = "mpi://RUN/RANK, the run in 16 hexadecimal digits",
                 .got = std::string(endpoint.substr(0, kTextBytesMax)),
                 .remedy = "start all of its peers by one mpirun"});
}

std::string text_of(const MpiAddress& address) {
  return fmt::format("{}{:016x}/{}", kScheme, address.run, address.rank);
}

}  // namespace tributary
