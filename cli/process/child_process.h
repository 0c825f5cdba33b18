// A child process that ends together with this object, and with it all processes that it has
// started: a wrapper's program, for example.
//
// If the parent dies, the kernel kills the child too (Orphan::ends), but not the processes that the
// child has started. A child with Orphan::goes_on can be left running by leave(). One thread at a
// time.
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

// The fate of the child if the parent ends unexpectedly: it is killed too, or it continues,
// like a window that the user is looking at.
enum class Orphan : std::uint8_t { ends, goes_on };

class ChildProcess {
 public:
  // Starts the program; its standard error is appended to the file `log`. Must be called from a
  // thread that lives as long as the process, because the kernel's parent signal depends on the
  // thread. Fails with not_found if the program does not exist, otherwise with io_error.
  static Result<std::unique_ptr<ChildProcess>> start(std::vector<std::string> command,
                                                     std::string log, Orphan orphan = Orphan::ends);
  // Kills the process and those that it has started, unless leave() was called. A process that has
  // made a process group of its own is left.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns the exit code, or 128 plus the signal that ended the process. Empty while it runs.
  std::optional<int> exit_code();
  // Gives up control of a process that continues to run.
  void leave() { process_ = -1; }
  // Fails with unavailable if the process has ended; the error contains the end of its log.
  Status check_running();

  std::string log_text() const;
  // The end of the log, at most 600 bytes, for error texts.
  std::string last_output() const;
  std::uint64_t peak_memory_bytes() const;  // 0 if the system does not report it

 private:
  ChildProcess(std::string name, std::string log) : name_(std::move(name)), log_(std::move(log)) {}

  std::string name_;
  std::string log_;
  pid_t process_ = -1;
  std::optional<int> exit_code_;
};

// Waits until a daemon has logged the endpoint on which it listens. Fails if it ends first, after
// 30 s with deadline_exceeded, or with cancelled on a stop signal.
Result<std::string> wait_for_endpoint(ChildProcess& daemon);

// Returns the path of one of our programs: beside this one, or in the build tree in `folder`. If
// neither exists, returns `name`, which exec looks up on the path.
std::string find_own_program(const std::string& folder, const std::string& name);

}  // namespace tributary
