// The options that all commands share which read a data set.
#pragma once

#include <string>
#include <vector>

#include "cli/accept.h"
#include "cli/command.h"
#include "core/data/formats/open.h"

namespace tributary {

// Returns PATH, --format, --part, --classes, --label, --separator, --tokens and --vocabulary. The
// options write to `request`, which must outlive them.
std::vector<Option> data_options(DataRequest& request);

}  // namespace tributary
