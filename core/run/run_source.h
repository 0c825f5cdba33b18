// The interface to a source of run data and to its coordinator: a file beside a coordinator, or a
// coordinator across the network.
//
// A problem is an error of step(), which retries by itself; the caller just continues to call it.
// Used by one thread at a time, except wake(). Calls may block, so a thread that draws must not
// make them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/run/round_detail.h"
#include "core/run/run_changes.h"

namespace tributary {

class RunSource {
 public:
  virtual ~RunSource() = default;

  // Adds one portion to `changes`. True: more data is available at once; false: call again after a
  // pause. Until the next attempt, the last error is returned again. The content of `changes` is
  // valid also after an error.
  virtual Result<bool> step(RunChanges& changes) = 0;
  // True if the last step() reached the end of the available data. False does not promise more
  // data: it may still be under way.
  virtual bool at_end() const = 0;

  // Reads one committed round in detail; not_found if it does not exist.
  virtual Result<RoundDetail> round_detail(std::uint64_t job, std::uint64_t round) = 0;

  // Sends an operator's request to the coordinator and returns its answer, both as JSON
  // (docs/jobs.md). Fails with unavailable (no coordinator) or permission_denied (this key has no
  // right to it).
  virtual Result<std::string> ask_operator(std::string_view question) = 0;

  // Makes a waiting call return soon, because its result is no longer necessary. Any thread.
  virtual void wake() {}
};

}  // namespace tributary
