// Checks of values that were read from a file.
//
// A damaged journal is never repaired silently: the caller passes the error on. A coordinator then
// does not start; an agent sets the journal aside, says so and begins with a new one.
#pragma once

#include <string>

#include "core/base/status.h"
#include "schemas/frame_generated.h"

namespace tributary {

// The error of a damaged journal (corrupt_data), with the remedy for the operator.
Status damaged_journal(const std::string& path, std::string what, std::string expected,
                       std::string got);

// Fails with corrupt_data if the state is not a known one.
Status check_restored(wire::JobState state, const std::string& path);

}  // namespace tributary
