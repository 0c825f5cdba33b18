// Errors of the driver as statuses.
#pragma once

#include <string>

#include "core/base/status.h"
#include "core/codec/cuda/gpu/driver.h"

namespace tributary::cuda {

// The driver's own text.
std::string error_text(const Driver& driver, DriverResult error);

// `what` names the call. resource_exhausted: too little memory. io_error: any other error; most of
// them stay, and every later call of the process fails with the same.
Status status_of(DriverResult error, std::string what);

}  // namespace tributary::cuda
