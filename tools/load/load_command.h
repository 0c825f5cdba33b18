// The only command of tributary-load. Its options and figures are described in its --help.
#pragma once

#include "cli/command.h"

namespace tributary {

Command load_command();

}  // namespace tributary
