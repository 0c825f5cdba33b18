#include "core/store/database/vectors/private_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace tributary {

void create_private(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
}

}  // namespace tributary
