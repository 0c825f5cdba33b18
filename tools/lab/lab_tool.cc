#include "tools/lab/lab_tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "cli/process/process.h"

namespace tributary {
namespace {

// Part of a tool's message that an error repeats.
constexpr std::size_t kShownBytes = 400;

// A file in memory instead of a pipe, so neither side blocks, whatever the length.
class Stream {
 public:
  Stream() : file_(::memfd_create("tool", MFD_CLOEXEC)) {}
  ~Stream() { ::close(file_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int file() const { return file_; }
  int fill(const std::string& text) const {
    const int error = write_all(file_, text);
    ::lseek(file_, 0, SEEK_SET);
    return error;
  }
  std::string text() const {
    std::string text;
    std::array<char, 4096> buffer{};
    ssize_t size = 0;
    while ((size = ::pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) >
           0) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int file_;
};

// Starts the command in its own process group and with default signal handling.
int spawn(std::vector<std::string>& command, const std::array<const Stream*, 3>& streams,
          pid_t& child) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i) {
    const Stream* const stream = streams[static_cast<std::size_t>(i)];
    ::posix_spawn_file_actions_adddup2(&actions, stream->file(), i);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) {
    ::sigaddset(&defaults, signal);
  }
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

// The error of a tool, with its own message cut to a readable length.
Status failed(const std::vector<std::string>& command, std::string got) {
  got.resize(std::min(got.size(), kShownBytes));
  while (!got.empty() && got.back() == '\n') got.pop_back();
  return Status(StatusCode::io_error, {.what = fmt::format("{}", fmt::join(command, " ")),
                                       .expected = "success",
                                       .got = std::move(got),
                                       .remedy = {}});
}

}  // namespace

Result<std::string> run_tool(std::vector<std::string> command, const std::string& input) {
  const Stream in;
  const Stream out;
  const Stream err;
  int error = in.fill(input);
  pid_t child = -1;
  if (error == 0) error = spawn(command, {&in, &out, &err}, child);
  if (error == ENOENT) {
    return Status(StatusCode::not_found, {.what = fmt::format("the program '{}'", command[0]),
                                          .expected = "the programs of the package iproute2",
                                          .got = "none on the path",
                                          .remedy = "install it: apt-get install iproute2"});
  }
  if (error != 0) return failed(command, std::generic_category().message(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // Some tools write their errors to standard output.
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return out.text();
  return failed(command, err.text().empty() ? out.text() : err.text());
}

}  // namespace tributary
