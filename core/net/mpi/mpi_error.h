// MPI's results as statuses.
#pragma once

#include <string>

#include "core/base/status.h"

namespace tributary {

// What a function of MPI returned, on a communicator whose errors are returned.
Status mpi_status(int result, const std::string& what);

}  // namespace tributary
