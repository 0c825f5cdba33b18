#include "tests/end_to_end/federation/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

extern char** environ;

namespace tributary::end_to_end {
namespace {

constexpr std::chrono::milliseconds kLookEvery{5};

}  // namespace

bool eventually(const std::function<bool()>& condition, std::chrono::nanoseconds patience) {
  const auto give_up_at = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up_at) return false;
    std::this_thread::sleep_for(kLookEvery);
  }
  return true;
}

Process::Process(const std::vector<std::string>& command, std::string log_file)
    : log_file_(std::move(log_file)) {
  std::error_code none;
  const auto size = std::filesystem::file_size(log_file_, none);
  // A restarted process appends to the same log; earlier lines are skipped.
  log_begin_ = none ? 0 : static_cast<std::size_t>(size);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log_file_.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  const int error = ::posix_spawn(&pid_, arguments[0], &files, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  EXPECT_EQ(error, 0) << command[0];
  if (error != 0) pid_ = -1;
}

Process::~Process() { kill(); }

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  kill();
  pid_ = std::exchange(other.pid_, -1);
  status_ = other.status_;
  log_file_ = std::move(other.log_file_);
  log_begin_ = other.log_begin_;
  return *this;
}

bool Process::running() {
  if (pid_ < 0) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = -1;
  return false;
}

void Process::signal(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

void Process::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  status_ = 128 + SIGKILL;
  pid_ = -1;
}

int Process::wait(std::chrono::nanoseconds patience) {
  return eventually([&] { return !running(); }, patience) ? status_ : -1;
}

std::vector<std::string> Process::lines() const {
  std::ifstream file(log_file_);
  file.seekg(static_cast<std::streamoff>(log_begin_));
  std::vector<std::string> lines;
  std::string line;
  // The last line is dropped if it has no end yet.
  while (std::getline(file, line) && !file.eof()) lines.push_back(line);
  return lines;
}

std::vector<std::string> Process::lines_with(const std::vector<std::string>& parts) const {
  std::vector<std::string> found = lines();
  std::erase_if(found, [&](const std::string& line) {
    return !std::ranges::all_of(parts,
                                [&](const auto& part) { return line.find(part) != line.npos; });
  });
  return found;
}

bool Process::logs(const std::vector<std::string>& parts, std::size_t count) {
  bool ended = false;
  const bool found = eventually([&] {
    ended = !running();
    return lines_with(parts).size() >= count || ended;
  });
  return found && lines_with(parts).size() >= count;
}

std::string field(std::string_view line, std::string_view key) {
  const std::string begin = " " + std::string(key) + "=";
  const std::size_t at = line.find(begin);
  if (at == line.npos) return {};
  const std::size_t from = at + begin.size();
  return std::string(line.substr(from, line.find(' ', from) - from));
}

}  // namespace tributary::end_to_end
