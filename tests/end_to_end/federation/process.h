// A program that runs beside the test, and what it has logged.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tributary::end_to_end {

// As long as a slow machine may take for anything.
inline constexpr std::chrono::seconds kPatience{90};

// Looks again and again until the condition holds; false when it does not within the time.
bool eventually(const std::function<bool()>& condition,
                std::chrono::nanoseconds patience = kPatience);

class Process {
 public:
  // What it writes is appended to `log_file`.
  Process(const std::vector<std::string>& command, std::string log_file);
  ~Process();  // kills it
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;

  pid_t pid() const { return pid_; }
  bool running();
  void signal(int signal) const;
  void kill();  // SIGKILL, and waits
  // The exit code, 128 + n after signal n; -1 when it does not end in time.
  int wait(std::chrono::nanoseconds patience = kPatience);

  // Lines of this process, not of those that had the file before.
  std::vector<std::string> lines() const;
  // Lines that hold all of these.
  std::vector<std::string> lines_with(const std::vector<std::string>& parts) const;
  // Waits until there are so many of them; false when the process has ended or the time is up.
  bool logs(const std::vector<std::string>& parts, std::size_t count = 1);

 private:
  pid_t pid_ = -1;
  int status_ = -1;
  std::string log_file_;
  std::size_t log_begin_ = 0;
};

// key=value of a line of the log; empty where there is none.
std::string field(std::string_view line, std::string_view key);

}  // namespace tributary::end_to_end
