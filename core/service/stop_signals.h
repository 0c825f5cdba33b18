// Handles the signals of a daemon. SIGTERM and SIGINT ask it to stop, a second one ends the process
// at once, and SIGHUP asks it to reload what can be reloaded.
//
// A process has at most one object. Its destructor waits for the thread, so `on_signal` must not
// wait for the destruction of its owner.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "core/base/status.h"
#include "core/net/waker.h"

namespace tributary {

// Owns the thread that waits for signals.
class StopSignals {
 public:
  // Blocks the signals in the calling thread. Call it before the process has a second thread,
  // because threads inherit the mask. Also ignores SIGPIPE and SIGXFSZ, so that a write to a closed
  // pipe or beyond a file size limit returns an error.
  static void block();

  // `on_signal` is called on a thread of its own, once for the first signal to stop and for every
  // SIGHUP. block() must have been called.
  static Result<std::unique_ptr<StopSignals>> open(std::function<void(int signal)> on_signal);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  StopSignals(std::function<void(int)> on_signal, Waker end, int file)
      : on_signal_(std::move(on_signal)), end_(std::move(end)), file_(file) {}
  void listen();

  const std::function<void(int)> on_signal_;
  Waker end_;
  const int file_;
  std::thread thread_;
};

}  // namespace tributary
