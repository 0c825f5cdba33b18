// Checks on what comes back from a file.
#pragma once

#include <string>

#include "core/base/status.h"
#include "schemas/frame_generated.h"

namespace tributary {

Status damaged_journal(const std::string& path, std::string what, std::string expected,
                       std::string got);

Status check_restored(wire::JobState state, const std::string& path);

}  // namespace tributary
