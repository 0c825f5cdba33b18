// The options that all commands share which read a data set.
//
// The options only convert text. The data set is opened later, by the command, so an error of the
// command line is reported before any file is touched.
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
