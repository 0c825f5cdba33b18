#include "core/service/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <system_error>

#include "core/base/exit_codes.h"

namespace tributary {
namespace {

// The signals that the thread reads. They are blocked, so no handler runs.
sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

void StopSignals::block() {
  const sigset_t set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Result<std::unique_ptr<StopSignals>> StopSignals::open(std::function<void(int)> on_signal) {
  TRIBUTARY_ASSIGN(Waker end, Waker::open());
  const sigset_t set = watched();
  const int file = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (file < 0) {
    return Status(StatusCode::io_error, {.what = "signals",
                                         .expected = "a file descriptor for them",
                                         .got = std::generic_category().message(errno),
                                         .remedy = {}});
  }
  std::unique_ptr<StopSignals> signals(new StopSignals(std::move(on_signal), std::move(end), file));
  // The thread reads signals from a file descriptor. on_signal_ therefore runs in an ordinary
  // thread and may lock, log and allocate, unlike a signal handler.
  signals->thread_ = std::thread([self = signals.get()] { self->listen(); });
  return signals;
}

StopSignals::~StopSignals() {
  end_.signal();
  if (thread_.joinable()) thread_.join();
  ::close(file_);
}

// The second signal to stop ends the process without cleaning up, for a daemon that hangs.
void StopSignals::listen() {
  bool asked = false;
  while (true) {
    std::array<pollfd, 2> files = {{{.fd = file_, .events = POLLIN, .revents = 0},
                                    {.fd = end_.file(), .events = POLLIN, .revents = 0}}};
    if (::poll(files.data(), files.size(), -1) < 0 && errno != EINTR) return;
    if (files[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(file_, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) continue;
    const int signal = static_cast<int>(info.ssi_signo);
    // The exit code is the one that a shell reports for a process that a signal ended.
    if (signal != SIGHUP && std::exchange(asked, true)) ::_exit(kExitSignal + signal);
    on_signal_(signal);
  }
}

}  // namespace tributary
