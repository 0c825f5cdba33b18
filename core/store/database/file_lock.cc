#include "core/store/database/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tributary {
namespace {

// The process whose number is in the file; the file may still be empty.
std::string holder(int file) {
  std::array<char, 20> digits{};
  const ssize_t size = ::pread(file, digits.data(), digits.size(), 0);
  if (size <= 0) return "another process";
  const std::string number(digits.data(), static_cast<std::size_t>(size));
  if (number.find_first_not_of("0123456789\n") != std::string::npos) return "another process";
  return "process " + number.substr(0, number.find('\n'));
}

Status refused(const std::string& name, int error) {
  return Status(StatusCode::io_error,
                {.what = fmt::format("locking '{}'", name),
                 .expected = "a folder in which this user may create files",
                 .got = std::generic_category().message(error),
                 .remedy = "check that the folder exists and the permissions in it"});
}

}  // namespace

// flock is bound to the open file, so the lock ends with the process, however it ends. Only the
// owner may open the file, because a process that can open it can hold the lock. fchmod() is for
// files of earlier builds.
Result<FileLock> FileLock::take(const std::string& path) {
  const std::string name = path + ".lock";
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return refused(name, errno);
  FileLock lock(file);
  static_cast<void>(::fchmod(file, 0600));  // fails for a file of another user
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return refused(name, errno);
    return Status(StatusCode::already_exists,
                  {.what = fmt::format("journal '{}'", path),
                   .expected = "no other process that uses it",
                   .got = fmt::format("{} does", holder(file)),
                   .remedy = "stop the other process, or name another journal"});
  }
  // The number is only information for people; the lock does not depend on it.
  const std::string number = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file, 0) == 0) {
    static_cast<void>(::pwrite(file, number.data(), number.size(), 0) < 0);
  }
  return lock;
}

FileLock::~FileLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace tributary
