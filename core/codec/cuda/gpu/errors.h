// Errors of the CUDA runtime as statuses.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "core/base/status.h"

namespace tributary::cuda {

// `what` names the call. resource_exhausted: too little memory. io_error: any other error; most of
// them stay, and every later call of the process fails with the same.
Status status_of(cudaError_t error, std::string what);

}  // namespace tributary::cuda
