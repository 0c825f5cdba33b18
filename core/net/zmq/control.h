// Questions of an operator's command to a daemon on the same machine, over a Unix socket that only
// the daemon's own user may use. The server answers one question at a time. Both texts have at most
// kControlBytesMax bytes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

inline constexpr std::size_t kControlBytesMax = 1u << 20;

// The path of the socket of the daemon that uses this journal.
std::string control_path(const std::string& journal);

// Answers questions on a thread of its own until it is destroyed.
class ControlServer {
 public:
  // Called on the server's own thread, one call at a time.
  using Answer = std::function<std::string(std::string_view question)>;

  // Replaces a socket file that a killed daemon has left, so the caller must hold the journal's
  // lock. Returns invalid_argument if the path is too long for a socket.
  static Result<std::unique_ptr<ControlServer>> open(const std::string& path, Answer answer);
  // Waits until an answer in progress is complete, then removes the file.
  virtual ~ControlServer() = default;
};

// Sends one question and waits for the answer. Returns unavailable if no daemon listens or if it
// ends while the caller waits, io_error if this user may not use the socket, deadline_exceeded if
// no answer arrives within `patience`, resource_exhausted if the question is too large, and
// invalid_argument if the path is too long for a socket. Another thread may set `cancelled` to stop
// the wait; it is checked a few times per second, and the call returns `cancelled`.
Result<std::string> ask_daemon(const std::string& path, std::string_view question,
                               std::chrono::nanoseconds patience,
                               const std::atomic<bool>* cancelled = nullptr);

}  // namespace tributary
