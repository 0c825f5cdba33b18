// The process's own signals and file descriptors.
#pragma once

#include <string_view>

namespace tributary {

// Ctrl-C and its like ask the program to stop, and only a second time end it at once. A reader that
// went away and a file size limit become errors of the write.
void set_up_process();

// The signal that asked to stop; 0 while none has.
int stop_signal();

// Returns 0, or the error number. A write that a stop signal interrupts is given up.
int write_all(int file, std::string_view text);

}  // namespace tributary
