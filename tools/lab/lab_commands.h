// The commands of tributary-lab; each is in the file of its name. They need the rights to create
// network namespaces; without them a command fails with the tool's own message.
#pragma once

#include "cli/command.h"

namespace tributary {

Command lab_down_command();
Command lab_exec_command();
Command lab_list_command();
Command lab_up_command();

}  // namespace tributary
