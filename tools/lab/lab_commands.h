// The commands of tributary-lab; each is in the file of its name.
#pragma once

#include "cli/command.h"

namespace tributary {

Command lab_down_command();
Command lab_exec_command();
Command lab_list_command();
Command lab_up_command();

}  // namespace tributary
