#include "cli/process/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/process/process.h"
#include "core/base/clock.h"
#include "core/base/files/file.h"

namespace tributary {
namespace {

// Limit of a log that is read into memory.
constexpr std::uint64_t kLogBytesMax = 256u << 20;
// Part of a log that an error message repeats: enough for the last error line.
constexpr std::size_t kLastOutputBytes = 600;
// The exit code of shells for a program that cannot be started.
constexpr int kCannotRun = 127;

// Runs in the child after fork(), where only async-signal-safe functions may be called. On failure
// it writes errno to `news`.
[[noreturn]] void become(char* const* arguments, const char* log, pid_t parent, Orphan orphan,
                         int news) {
  if (orphan == Orphan::ends) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotRun);  // the parent ended before prctl() took effect
  // A process group of its own keeps Ctrl-C away from the child; the parent decides when it ends,
  // together with the processes that it starts.
  ::setpgid(0, 0);
  const int file = ::open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (file >= 0 && nowhere >= 0) {
    ::dup2(nowhere, STDIN_FILENO);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) {
      std::signal(signal, SIG_DFL);
    }
    ::execvp(arguments[0], arguments);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(news, &error, sizeof(error));
  ::_exit(kCannotRun);
}

// Returns 0 when the child runs the program, because exec closes its end of the pipe; otherwise
// errno.
int wait_for_news(int news) {
  int error = 0;
  ssize_t size = 0;
  do {
    size = ::read(news, &error, sizeof(error));
  } while (size < 0 && errno == EINTR);
  return size == sizeof(error) ? error : 0;
}

// A daemon logs other endpoints too, before this one: those of metrics and of observers.
std::string endpoint_in_log(std::string_view log) {
  constexpr std::string_view kLogged = "listening";
  constexpr std::string_view kScheme = "tcp://";
  const std::size_t line = log.find(kLogged);
  const std::size_t end = line == log.npos ? line : log.find('\n', line);
  if (end == log.npos) return {};
  const std::string_view fields = log.substr(line, end - line);
  const std::size_t begin = fields.find(kScheme);
  if (begin == fields.npos) return {};
  return std::string(fields.substr(begin, fields.find_first_of("\" ", begin) - begin));
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(std::vector<std::string> command,
                                                          std::string log, Orphan orphan) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::unique_ptr<ChildProcess> child(new ChildProcess(command[0], std::move(log)));
  const pid_t parent = ::getpid();
  // The pipe reports an error of exec. It closes without data when exec succeeds (O_CLOEXEC).
  std::array<int, 2> news = {-1, -1};
  int error = ::pipe2(news.data(), O_CLOEXEC) == 0 ? 0 : errno;
  if (error == 0) {
    child->process_ = ::fork();
    if (child->process_ == 0) {
      become(arguments.data(), child->log_.c_str(), parent, orphan, news[1]);
    }
    error = child->process_ < 0 ? errno : 0;
    ::close(news[1]);
    if (error == 0) error = wait_for_news(news[0]);
    ::close(news[0]);
  }
  if (error == 0) return child;
  return Status(error == ENOENT ? StatusCode::not_found : StatusCode::io_error,
                {.what = command[0],
                 .expected = "an executable program",
                 .got = std::generic_category().message(error),
                 .remedy = {}});
}

// Only here is the process collected: until then no other process can get its number, which is that
// of its process group.
ChildProcess::~ChildProcess() {
  if (process_ <= 0) return;
  ::kill(-process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

// 128 plus the number of the signal stands for a process that a signal has ended, as in shells.
std::optional<int> ChildProcess::exit_code() {
  siginfo_t ended = {};
  if (exit_code_ || process_ <= 0) return exit_code_;
  if (::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      ended.si_pid != process_) {
    return exit_code_;
  }
  exit_code_ = ended.si_code == CLD_EXITED ? ended.si_status : 128 + ended.si_status;
  return exit_code_;
}

Status ChildProcess::check_running() {
  const std::optional<int> code = exit_code();
  if (!code) return {};
  return Status(StatusCode::unavailable,
                {.what = name_,
                 .expected = "a running process",
                 .got = fmt::format("it ended with code {}: {}", *code, last_output()),
                 .remedy = fmt::format("read {}", log_)});
}

std::string ChildProcess::log_text() const {
  const Result<Bytes> bytes = read_file(log_, kLogBytesMax);
  if (!bytes.ok()) return {};
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

std::string ChildProcess::last_output() const {
  const std::string log = log_text();
  return log.size() <= kLastOutputBytes ? log : log.substr(log.size() - kLastOutputBytes);
}

// VmHWM is the peak of the resident memory. 0 if the process has ended, because its status is gone
// then.
std::uint64_t ChildProcess::peak_memory_bytes() const {
  std::ifstream file(fmt::format("/proc/{}/status", process_));
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kib = 0;
    if (words >> key >> kib && key == "VmHWM:") return kib * 1024;
  }
  return 0;
}

// Polls the log, the only channel that a daemon has before its port is known.
Result<std::string> wait_for_endpoint(ChildProcess& daemon) {
  constexpr std::chrono::seconds kStartMax{30};
  const SystemClock clock;
  const auto give_up_at = clock.now() + kStartMax;
  while (clock.now() < give_up_at && stop_signal() == 0) {
    TRIBUTARY_TRY(daemon.check_running());
    std::string endpoint = endpoint_in_log(daemon.log_text());
    if (!endpoint.empty()) return endpoint;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (stop_signal() != 0) return Status(StatusCode::cancelled, {.what = "the coordinator's start"});
  return Status(StatusCode::deadline_exceeded, {.what = "the coordinator's start",
                                                .expected = "a port within 30 s",
                                                .got = daemon.last_output(),
                                                .remedy = {}});
}

std::string find_own_program(const std::string& folder, const std::string& name) {
  std::error_code none;
  // The programs are beside this one when installed, and in sibling folders in the build tree.
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", none);
  for (const auto& place : {own.parent_path(), own.parent_path().parent_path() / folder}) {
    const std::filesystem::path program = place / name;
    if (std::filesystem::exists(program, none)) return program.string();
  }
  return name;
}

}  // namespace tributary
