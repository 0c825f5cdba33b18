// Runs programs for tests and provides temporary folders.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace tributary {

// The result of a program.
struct Outcome {
  int exit_code = -1;
  std::string output;  // stdout and stderr
};

// `command` is a shell command; the caller quotes its paths.
inline Outcome run_command(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return outcome;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    outcome.output.append(buffer, n);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

inline std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

// A folder that is deleted with its contents at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "tributary-compat-XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
    EXPECT_FALSE(path_.empty());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tributary
