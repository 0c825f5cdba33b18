// Where the jobs of an XDP gateway lie in its maps: an entry in the map of jobs, and a range of
// slots. It accepts and refuses the jobs that SlotRules::install() does.
//
// A new epoch gets another entry, because packets may read the old one meanwhile. Entries are
// used in turn, so an old one stays as it was for at least kXdpJobs - kJobsMax installations. Pure;
// not thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "core/base/status.h"
#include "core/collective/in_network/slot_rules.h"
#include "switch_p4/xdp/gateway_maps.h"

namespace tributary::switch_xdp {

class JobTable {
 public:
  // `slots` are shared by all jobs.
  explicit JobTable(std::uint32_t slots) : slots_(slots) {}

  struct Placed {
    std::uint32_t index = 0;  // of the entry
    XdpJob entry = {};
  };
  // Errors are those of SlotRules::install(); then nothing changes. check() returns them alone.
  Status check(const in_network::SlotJob& job) const;
  Result<Placed> install(const in_network::SlotJob& job);
  // Returns not_found for an unknown job.
  Status remove(std::uint16_t handle);

  std::size_t jobs() const { return placed_.size(); }
  std::uint32_t slots() const { return slots_; }
  std::uint32_t slots_free() const;

 private:
  struct Range {
    std::uint32_t index;
    std::uint32_t epoch;
    std::uint32_t first;
    std::uint32_t count;
  };
  Result<std::uint32_t> first_free(const in_network::SlotJob& job) const;
  std::uint32_t next_index();

  const std::uint32_t slots_;
  std::map<std::uint16_t, Range> placed_;  // by handle
  std::uint32_t last_index_ = 0;
  std::uint32_t instance_ = 0;  // of the last installation
};

}  // namespace tributary::switch_xdp
