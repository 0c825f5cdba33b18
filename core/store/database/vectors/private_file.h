// A file that only its owner may read.
#pragma once

#include <string>

namespace tributary {

// Creates an empty file of mode 0600, whatever the umask. An existing file keeps its mode, and is
// not opened: closing it would release the locks of this process. Errors are left to the next call
// that opens the file.
void create_private(const std::string& path);

}  // namespace tributary
