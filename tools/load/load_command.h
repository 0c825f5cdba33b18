// The only command of tributary-load. Its options and figures are described in its --help. Making
// it costs nothing; it opens connections only when it is run.
#pragma once

#include "cli/command.h"

namespace tributary {

Command load_command();

}  // namespace tributary
