// A program that runs as long as this object lives, and no longer than this process, whatever way
// that ends: the system ends it too. Only one that goes on is left to itself, when that is asked
// for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// What becomes of a child whose parent ends without a word: the system ends it as well, or it goes
// on, as a window does that somebody looks at.
enum class Orphan : std::uint8_t { ends, goes_on };

class ChildProcess {
 public:
  // Its standard error is added to the file `log`. To be called from the thread that lives longest.
  // not_found: there is no such program.
  static Result<std::unique_ptr<ChildProcess>> start(std::vector<std::string> command,
                                                     std::string log, Orphan orphan = Orphan::ends);
  // Kills it, if it still runs and was not left to itself.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Its exit code, or 128 and the signal that ended it; nothing while it runs.
  std::optional<int> exit_code();
  // Asks it to end; exit_code() says when it has.
  void ask_to_stop();
  // From here on it is nobody's child: for one that goes on.
  void leave() { process_ = -1; }
  // Its last words are in the error.
  Status check_running();

  std::string log_text() const;
  std::string last_words() const;
  std::uint64_t peak_memory_bytes() const;  // 0 where the system does not say

 private:
  ChildProcess(std::string name, std::string log) : name_(std::move(name)), log_(std::move(log)) {}

  std::string name_;
  std::string log_;
  pid_t process_ = -1;
  std::optional<int> exit_code_;
};

// Waits until a daemon of ours has logged where it listens; an error where it ends before that,
// takes too long, or this program is asked to stop.
Result<std::string> wait_for_endpoint(ChildProcess& daemon);

// A program of ours: beside this one, or where the build leaves it in `folder`.
std::string find_own_program(const std::string& folder, const std::string& name);

}  // namespace tributary
