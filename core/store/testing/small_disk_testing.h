// Runs a function on a file system of its own that has few bytes, in a child process.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

namespace tributary::store_testing {

// The outcome on the small disk. `skipped` says why this system has none: it takes a mount
// namespace.
struct OnSmallDisk {
  std::string skipped;
  std::string outcome;
};

// A mount namespace for this process and its children. A user without the privilege becomes root of
// a user namespace: only a mapped user can create files there.
inline bool enter_mount_namespace() {
  if (::unshare(CLONE_NEWNS) == 0) return true;
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " + user + " 1";
  std::ofstream("/proc/self/gid_map") << "0 " + group + " 1";
  return true;
}

// Mounts the file system at `folder`, for this process and its children only.
inline std::string mount_small_disk(const std::string& folder, std::uint64_t bytes) {
  if (!enter_mount_namespace()) {
    return std::string("no mount namespace: ") + std::strerror(errno);
  }
  const std::string size = "size=" + std::to_string(bytes);
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) != 0) {
    return std::string("no tmpfs can be mounted: ") + std::strerror(errno);
  }
  return {};
}

// `function` returns what a test expects or what went wrong.
inline OnSmallDisk on_small_disk(const std::string& folder, std::uint64_t bytes,
                                 const std::function<std::string()>& function) {
  std::array<int, 2> pipe{};
  // Programs that `function` starts must not keep the pipe open.
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return {.skipped = "no pipe", .outcome = {}};
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string skipped = mount_small_disk(folder, bytes);
    const std::string text = skipped.empty() ? "=" + function() : skipped;
    static_cast<void>(::write(pipe[1], text.data(), text.size()) < 0);
    ::_exit(0);
  }
  ::close(pipe[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got; (got = ::read(pipe[0], part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0)
    return {.skipped = {}, .outcome = "the child ended with " + std::to_string(status)};
  if (!text.starts_with('=')) return {.skipped = text, .outcome = {}};
  return {.skipped = {}, .outcome = text.substr(1)};
}

}  // namespace tributary::store_testing
