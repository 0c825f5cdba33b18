// The only command of tributary-load.
#pragma once

#include "cli/command.h"

namespace tributary {

Command load_command();

}  // namespace tributary
