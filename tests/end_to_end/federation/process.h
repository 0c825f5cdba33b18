// A child process of the test, and its log. One thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tributary::end_to_end {

// Limit of every wait. Generous, so that tests pass on a slow machine.
inline constexpr std::chrono::seconds kPatience{90};

// Polls until the condition holds; returns false if it does not within `patience`.
bool eventually(const std::function<bool()>& condition,
                std::chrono::nanoseconds patience = kPatience);

class Process {
 public:
  // Starts the program. Standard output and standard error are appended to `log_file`.
  Process(const std::vector<std::string>& command, std::string log_file);
  ~Process();  // kills the process
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;

  pid_t pid() const { return pid_; }
  bool running();
  void signal(int signal) const;
  void kill();  // sends SIGKILL and waits
  // Waits for the end and returns the exit code, or 128 + n after signal n. -1 if the process does
  // not end in time.
  int wait(std::chrono::nanoseconds patience = kPatience);

  // Returns the complete log lines of this process, without those of earlier processes with the
  // file.
  std::vector<std::string> lines() const;
  // Returns the lines that contain all of `parts`.
  std::vector<std::string> lines_with(const std::vector<std::string>& parts) const;
  // Waits for `count` such lines. Returns false if the process has ended without them or time is
  // up.
  bool logs(const std::vector<std::string>& parts, std::size_t count = 1);

 private:
  pid_t pid_ = -1;
  int status_ = -1;
  std::string log_file_;
  std::size_t log_begin_ = 0;
};

// Returns the value of key=value in a log line; empty if the key is missing.
std::string field(std::string_view line, std::string_view key);

}  // namespace tributary::end_to_end
