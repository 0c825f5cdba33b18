#include "core/net/mpi/mpi_error.h"

#include <mpi.h>

#include <array>

namespace tributary {

Status mpi_status(int result, const std::string& what) {
  if (result == MPI_SUCCESS) return {};
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  int kind = MPI_ERR_OTHER;
  MPI_Error_class(result, &kind);
  const StatusCode code =
      kind == MPI_ERR_TRUNCATE ? StatusCode::corrupt_data : StatusCode::io_error;
  return Status(code, {.what = what,
                       .expected = "success of MPI",
                       .got = std::string(text.data(), static_cast<std::size_t>(length))});
}

}  // namespace tributary
