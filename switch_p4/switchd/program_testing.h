// A program under test: a process in a folder of its own, with a log and a line of counters for
// each report. For the aggregators of switch_p4, which print the same.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace tributary::switchd {

class ProgramInFolder {
 public:
  ProgramInFolder() {
    std::string pattern = testing::TempDir() + "switch.XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ProgramInFolder() {
    stop(SIGKILL);
    std::filesystem::remove_all(folder_);
  }
  ProgramInFolder(const ProgramInFolder&) = delete;
  ProgramInFolder& operator=(const ProgramInFolder&) = delete;

  const std::string& folder() const { return folder_; }
  std::string settings_file() const { return folder_ + "/switch.toml"; }

  // Starts a command, which is found on the path.
  void launch(std::vector<std::string> command) {
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string out = folder_ + "/out";
    const std::string log = folder_ + "/log";
    process_ = ::fork();
    if (process_ == 0) {
      const bool redirected = std::freopen(out.c_str(), "a", stdout) != nullptr &&
                              std::freopen(log.c_str(), "a", stderr) != nullptr;
      if (redirected) ::execvp(arguments[0], arguments.data());
      ::_exit(127);
    }
    ASSERT_GT(process_, 0);
  }
  // The same, and waits for the line that says that it is ready.
  void start(std::vector<std::string> command, const std::string& ready) {
    launch(std::move(command));
    wait_for_log(ready, ++starts_);
  }
  // Waits for the n-th line with this text, for five minutes at most.
  void wait_for_log(const std::string& text, std::size_t n) const {
    for (int i = 0; i < 30'000; ++i) {
      std::size_t found = 0;
      std::istringstream lines(text_of("log"));
      for (std::string line; std::getline(lines, line);) found += line.find(text) != line.npos;
      if (found >= n) return;
      ::poll(nullptr, 0, 10);
    }
    FAIL() << "no " << text << " in\n" << text_of("log");
  }
  void send_signal(int signal) const { ::kill(process_, signal); }
  // Returns the exit code, or 128 + n after signal n.
  int stop(int signal) {
    if (process_ <= 0) return -1;
    ::kill(process_, signal);
    return wait();
  }
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  nlohmann::json last_counters() const {
    std::istringstream lines(text_of("out"));
    std::string last;
    for (std::string line; std::getline(lines, line);) last = line;
    return nlohmann::json::parse(last);
  }
  std::string text_of(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

 private:
  std::string folder_;
  pid_t process_ = -1;
  std::size_t starts_ = 0;
};

}  // namespace tributary::switchd
