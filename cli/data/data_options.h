// Options of all commands that read a data set.
#pragma once

#include <string>
#include <vector>

#include "cli/accept.h"
#include "cli/command.h"
#include "core/data/formats/open.h"

namespace tributary {

// PATH, --format, --part, --classes, --label, --separator, --tokens, --vocabulary.
std::vector<Option> data_options(DataRequest& request);

}  // namespace tributary
