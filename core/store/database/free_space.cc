#include "core/store/database/free_space.h"

#include <sys/statvfs.h>

#include <algorithm>

namespace tributary {

std::uint64_t free_space_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  struct statvfs about = {};
  if (::statvfs(folder.c_str(), &about) != 0) return kSpaceUnknown;
  return std::uint64_t{about.f_bavail} * about.f_frsize;
}

std::uint64_t log_bytes_allowed(std::uint64_t log_bytes_max, std::uint64_t free_space) {
  return std::min(log_bytes_max, free_space / 2);
}

}  // namespace tributary
