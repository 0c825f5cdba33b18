// One process at a time: a file beside what it guards, locked for as long as this object lives. The
// system lets go of it when the process ends, however it ends; the file stays and means nothing.
#pragma once

#include <string>
#include <utility>

#include "core/base/status.h"

namespace tributary {

class FileLock {
 public:
  // Takes PATH.lock, or says at once who has it (`already_exists`).
  static Result<FileLock> take(const std::string& path);

  ~FileLock();
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;

 private:
  explicit FileLock(int file) : file_(file) {}

  int file_;
};

}  // namespace tributary
