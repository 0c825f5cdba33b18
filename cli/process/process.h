// Signals and standard streams of this process. Call set_up_process() once, before any thread
// starts.
//
// The state is that of the process: there is no object. stop_signal() is what long operations ask
// between their steps; nothing is interrupted in the middle.
#pragma once

#include <string_view>

namespace tributary {

// The first SIGINT, SIGTERM or SIGHUP requests a stop; the second one ends the program at once. A
// closed pipe and a file size limit become errors of the write instead of signals.
void set_up_process();

// Returns the signal that requested a stop; 0 if there was none. Any thread may call it.
int stop_signal();

// Writes all of `text` and returns 0, or errno. A write that a stop signal interrupts is not
// repeated.
int write_all(int file, std::string_view text);

}  // namespace tributary
