// Links in user space: a TAP in the node's namespace, a TAP at the bridge, and a relay process that
// carries packets between them at the times that the emulated link determines.
//
// open() needs the rights to create TAPs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/lab/lab_plan.h"
#include "core/net/shaped/trace.h"

namespace tributary {

// The TAPs exist as long as this object or a relay that was started from it.
class RelayTaps {
 public:
  struct Link {
    std::uint32_t node = 0;
    int node_tap = -1;
    int hub_tap = -1;
    std::vector<LinkTrace> trace;  // at most one
  };

  // Creates a pair of TAPs for each link that needs user space. Fails with io_error or the error of
  // reading a trace.
  static Result<RelayTaps> open(const LabPlan& plan);
  ~RelayTaps();
  RelayTaps(RelayTaps&&) noexcept = default;
  RelayTaps& operator=(RelayTaps&&) = delete;

  const std::vector<Link>& links() const { return links_; }

 private:
  RelayTaps() = default;
  std::vector<Link> links_;
};

struct RelayOptions {
  std::uint64_t seed = 0;
  std::string counts_path;
};

// Starts the relay in the hub's namespace and returns its process id. The relay outlives this
// program and ends when it is killed or the lab is taken down. Fails with io_error if it does not
// start.
Result<pid_t> start_relay(const LabPlan& plan, const RelayTaps& taps, const RelayOptions& options);

}  // namespace tributary
