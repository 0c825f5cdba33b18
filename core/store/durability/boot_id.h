// The identity of the time since the machine was started.
#pragma once

#include <string>

namespace tributary {

// Differs after each start of the machine, and so after each power failure. Empty if the system
// does not say.
std::string system_boot_id();

}  // namespace tributary
