#include "cli/process/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace tributary {
namespace {

// The last signal that asks the program to stop; 0: none.
std::atomic<int> received_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "it is set in a signal handler");

void note_signal(int signal) { received_signal = signal; }

// A file that is opened later would otherwise get the number of a missing standard stream, and
// messages would be written into it.
void open_missing_streams() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(file, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) < 0) return;
  }
}

}  // namespace

void set_up_process() {
  open_missing_streams();
  struct sigaction stop = {};
  stop.sa_handler = note_signal;
  // SA_RESTART is not set, so that a blocked write returns.
  stop.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old = {};
    // `nohup` and `&` make the shell ignore these signals; they must stay ignored.
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) {
      ::sigaction(signal, &stop, nullptr);
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int stop_signal() { return received_signal; }

// Returns 0 or errno. A signal to stop ends the attempt, so that a reader that does not read cannot
// keep the program from ending.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR && stop_signal() == 0) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace tributary
