// Ensures that only one process uses a file, by a lock on a file beside it. The lock lasts as long
// as the object. The system releases it when the process ends in any way; the lock file itself
// remains and has no meaning.
#pragma once

#include <string>
#include <utility>

#include "core/base/status.h"

namespace tributary {

class FileLock {
 public:
  // Locks PATH.lock. Fails at once with already_exists, naming the process that has the lock, or
  // with io_error.
  static Result<FileLock> take(const std::string& path);

  ~FileLock();
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;

 private:
  explicit FileLock(int file) : file_(file) {}

  int file_;
};

}  // namespace tributary
