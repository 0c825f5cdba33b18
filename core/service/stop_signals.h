// SIGTERM and SIGINT ask a daemon to end, a second one ends it at once; SIGHUP asks it to read
// again what it can read again.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "core/base/status.h"
#include "core/net/waker.h"

namespace tributary {

class StopSignals {
 public:
  // To be called before the process has a second thread: threads inherit what is blocked. A write
  // to a reader that went away, or beyond a file size limit, becomes an error of the write.
  static void block();

  // `on_signal` is called from a thread of its own, once for the first signal to end, and for every
  // SIGHUP.
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
