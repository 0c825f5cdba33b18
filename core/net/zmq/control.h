// Questions and answers between an operator's command and a daemon on the same machine, over a Unix
// socket that only the daemon's own user may use. One question at a time, texts of a bounded size.
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

// The socket of the daemon that has this journal.
std::string control_path(const std::string& journal);

class ControlServer {
 public:
  // Called on the server's own thread.
  using Answer = std::function<std::string(std::string_view question)>;

  // A socket file that a killed daemon has left is replaced: hold the journal's lock.
  static Result<std::unique_ptr<ControlServer>> open(const std::string& path, Answer answer);
  // Waits for an answer that is being made; takes the file away.
  virtual ~ControlServer() = default;
};

// An error where nobody listens, also once a daemon that was asked is gone, or no answer comes in
// time. `cancelled`: another thread sets it when nobody wants the answer any more, which is looked
// at a few times a second.
Result<std::string> ask_daemon(const std::string& path, std::string_view question,
                               std::chrono::nanoseconds patience,
                               const std::atomic<bool>* cancelled = nullptr);

}  // namespace tributary
