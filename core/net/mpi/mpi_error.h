// Conversion of MPI's results to Status.
//
// A pure function, apart from asking MPI for its text. It returns ok for MPI_SUCCESS.
#pragma once

#include <string>

#include "core/base/status.h"

namespace tributary {

// `result` is the return value of an MPI function on a communicator with MPI_ERRORS_RETURN. A
// truncated message gives corrupt_data, any other error io_error. `what` is the text field `what`
// of the error.
Status mpi_status(int result, const std::string& what);

}  // namespace tributary
