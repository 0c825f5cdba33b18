#include "tools/lab/lab_everywhere.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include "cli/process/process.h"
#include "core/base/clock.h"
#include "core/base/exit_codes.h"
#include "core/lab/lab_names.h"

namespace tributary {
namespace {

constexpr std::chrono::seconds kStopMax{5};  // from the first signal to SIGKILL
// The exit code of shells for a program that cannot be started.
constexpr int kCannotRun = 127;

// `process` is also the id of the process group.
struct Program {
  pid_t process = -1;
  bool running = false;
};

// Runs in the child. A process group of its own makes signals reach everything that the program
// starts. The child is killed if this process dies.
[[noreturn]] void become(char* const* arguments, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotRun);
  const int nowhere = ::open("/dev/null", O_RDONLY);
  ::dup2(nowhere, STDIN_FILENO);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) {
    std::signal(signal, SIG_DFL);
  }
  ::execvp(arguments[0], arguments);
  ::_exit(kCannotRun);
}

// The programs in all nodes. The destructor kills those that still run.
class Programs {
 public:
  explicit Programs(std::uint32_t nodes) : programs_(nodes) {
    outcome_.exit_codes.resize(nodes, 0);
  }
  ~Programs() { signal_all(SIGKILL); }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  Status start(std::uint32_t node, std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) become(arguments.data(), parent);
    if (child < 0) {
      return Status(StatusCode::resource_exhausted,
                    {.what = fmt::format("a process for node {}", node),
                     .expected = {},
                     .got = std::generic_category().message(errno),
                     .remedy = {}});
    }
    ::setpgid(child, child);  // parent and child both call it, because either may run first
    programs_[node] = {.process = child, .running = true};
    return {};
  }

  bool any_running() const { return std::ranges::any_of(programs_, &Program::running); }

  // The negative process id addresses the whole process group.
  void signal_all(int signal) const {
    for (const Program& program : programs_) {
      if (program.running) ::kill(-program.process, signal);
    }
  }

  // Records the programs that have ended.
  void look() {
    for (std::size_t node = 0; node < programs_.size(); ++node) {
      Program& program = programs_[node];
      int status = 0;
      if (!program.running || ::waitpid(program.process, &status, WNOHANG) != program.process) {
        continue;
      }
      program.running = false;
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kExitSignal + WTERMSIG(status);
      outcome_.exit_codes[node] = code;
      if (code == 0 || outcome_.exit_code != 0) continue;
      outcome_.exit_code = code;
      outcome_.first_to_fail = static_cast<int>(node);
    }
  }

  const EverywhereOutcome& outcome() const { return outcome_; }

 private:
  std::vector<Program> programs_;
  EverywhereOutcome outcome_;
};

}  // namespace

// `env` sets the variables after `ip netns exec` has entered the namespace.
std::vector<std::string> lab_command(const std::string& lab, std::uint32_t node,
                                     std::uint32_t nodes, const std::vector<std::string>& command) {
  std::vector<std::string> words = {"ip",
                                    "netns",
                                    "exec",
                                    node_namespace(lab, node),
                                    "env",
                                    "--",
                                    fmt::format("TRIBUTARY_NODE={}", node),
                                    fmt::format("TRIBUTARY_NODES={}", nodes),
                                    fmt::format("TRIBUTARY_ADDRESS={}", node_address(node))};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// Polls every 2 ms: programs under test must not be disturbed by many wake-ups.
Result<EverywhereOutcome> run_in_every_node(const std::string& lab, std::uint32_t nodes,
                                            const std::vector<std::string>& command) {
  constexpr std::chrono::milliseconds kStep{2};
  const SystemClock clock;
  Programs programs(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    TRIBUTARY_TRY(programs.start(node, lab_command(lab, node, nodes, command)));
  }
  std::chrono::nanoseconds asked_at{0};
  for (programs.look(); programs.any_running(); programs.look()) {
    if (stop_signal() != 0 || programs.outcome().exit_code != 0) {
      if (asked_at.count() == 0) {
        asked_at = clock.now();
        programs.signal_all(stop_signal() != 0 ? stop_signal() : SIGTERM);
      } else if (clock.now() - asked_at > kStopMax) {
        programs.signal_all(SIGKILL);
      }
    }
    std::this_thread::sleep_for(kStep);
  }
  if (stop_signal() != 0) return Status(StatusCode::cancelled, {.what = "lab exec"});
  return programs.outcome();
}

}  // namespace tributary
