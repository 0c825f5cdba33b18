// Options of all commands that read a data set.
#pragma once

#include <string>
#include <vector>

#include "cli/accept.h"
#include "cli/command.h"
#include "core/data/open.h"

namespace tributary {

// A finite number from min to max.
Accept accept_real(double& target, double min, double max);

// PATH, --format, --part, --classes, --label, --separator, --tokens, --vocabulary.
std::vector<Option> data_options(DataRequest& request);

}  // namespace tributary
