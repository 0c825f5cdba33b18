// Where what is told of a run comes from, and where what operators ask goes: a file beside a
// coordinator, or a coordinator across the network.
//
// Trouble is an error of step(), which is tried again by itself: the caller only goes on calling.
//
// Threads: one at a time, but for wake(); not one that draws.
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

  // Adds what one portion brings to `changes`. True: there is more at once; false: ask again after
  // a while. Until it is time to try again an error is given again, without another attempt. What
  // `changes` holds then is right, and to be taken as well.
  virtual Result<bool> step(RunChanges& changes) = 0;
  // Whether the last step() told the end of what there was. False is no promise of more: it may
  // still be on its way.
  virtual bool at_end() const = 0;

  virtual Result<RoundDetail> round_detail(std::uint64_t job, std::uint64_t round) = 0;

  // What an operator asks of the coordinator, and its answer, as JSON (docs/jobs.md). Unavailable:
  // no coordinator is there; permission_denied: not with this key.
  virtual Result<std::string> ask_operator(std::string_view question) = 0;

  // Any thread: whoever waits in a call is to come back soon, since nobody wants its answer.
  virtual void wake() {}
};

}  // namespace tributary
