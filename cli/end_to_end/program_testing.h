// Runs the program as a process in a temporary folder.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"

namespace tributary::program_testing {

class ProgramTest : public testing::Test {
 protected:
  // The folder is in memory if possible, because the program spends most of its time syncing files.
  ProgramTest() {
    const std::string in_memory = "/dev/shm/";
    std::string folder = ::access(in_memory.c_str(), W_OK) == 0 ? in_memory : testing::TempDir();
    folder += "tributary_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  const std::filesystem::path& folder() const { return folder_; }

  std::string write(const std::string& name, ByteSpan bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  std::string write_floats(const std::string& name, const FloatVector& values) const {
    return write(name, bytes_of(std::span<const float>(values)));
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Bytes read_bytes(const std::string& name) const {
    const std::string text = read(name);
    const ByteSpan bytes = bytes_of(text);
    return {bytes.begin(), bytes.end()};
  }
  FloatVector read_floats(const std::string& name) const {
    const std::string bytes = read(name);
    EXPECT_EQ(bytes.size() % sizeof(float), 0u);
    FloatVector values(bytes.size() / sizeof(float));
    std::copy_n(bytes.data(), values.size() * sizeof(float),
                reinterpret_cast<char*>(values.data()));
    return values;
  }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.insert(entry.path().filename());
    }
    return names;
  }

 private:
  std::filesystem::path folder_;
};

// An unnamed file that captures output and is read afterwards.
class Capture {
 public:
  Capture() : file_(::memfd_create("capture", MFD_CLOEXEC)) {}
  ~Capture() { ::close(file_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  int file() const { return file_; }
  std::string text() const {
    std::string text;
    char buffer[4096];
    ssize_t size = 0;
    while ((size = ::pread(file_, buffer, sizeof(buffer), static_cast<off_t>(text.size()))) > 0) {
      text.append(buffer, static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int file_;
};

struct Streams {
  int out = -1;  // -1: discard the output
  int err = -1;
  std::function<void()> before = {};  // runs in the child before exec
};

inline pid_t start(const std::vector<std::string>& args, const Streams& streams) {
  std::vector<char*> argv = {const_cast<char*>(TRIBUTARY_PROGRAM)};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(streams.out < 0 ? nowhere : streams.out, STDOUT_FILENO);
  ::dup2(streams.err < 0 ? nowhere : streams.err, STDERR_FILENO);
  if (streams.before) streams.before();
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

// Returns the exit code, or the negated number of the signal that ended the program.
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

inline Outcome run(const std::vector<std::string>& args, const std::function<void()>& before = {}) {
  const Capture out;
  const Capture err;
  const int code = wait_for(start(args, {.out = out.file(), .err = err.file(), .before = before}));
  return {.code = code, .out = out.text(), .err = err.text()};
}

}  // namespace tributary::program_testing
