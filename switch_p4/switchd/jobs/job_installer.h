// Installs epochs of jobs: the number is on the disk before the data plane serves the epoch, and
// only if the plane would serve it. A handle belongs to one job until that is removed.
//
// An epoch that was served before a restart stays refused, because its sums are gone. One thread.
#pragma once

#include <cstdint>
#include <map>

#include "core/base/log/log.h"
#include "core/base/status.h"
#include "core/collective/in_network/slot_rules.h"
#include "switch_p4/switchd/data_plane.h"
#include "switch_p4/switchd/jobs/epoch_file.h"

namespace tributary::switchd {

class JobInstaller {
 public:
  // Both references must outlive the object.
  JobInstaller(EpochFile epochs, DataPlane& plane, Log& log)
      : epochs_(std::move(epochs)), plane_(plane), log_(log) {}

  // `owner` is the coordinator's number of the job; 0: the settings have it. Returns mismatch for
  // an epoch that is not above all that the handle has had, already_exists if another job has the
  // handle, and the errors of SlotRules::install().
  Status install(const in_network::SlotJob& job, std::uint64_t owner = 0);
  void remove(std::uint16_t handle);
  void remove_all();
  std::uint32_t highest(std::uint16_t handle) const { return epochs_.highest(handle); }

 private:
  Status try_install(const in_network::SlotJob& job, std::uint64_t owner);

  EpochFile epochs_;
  std::map<std::uint16_t, std::uint64_t> owners_;  // of the installed jobs, by handle
  DataPlane& plane_;
  Log& log_;
};

}  // namespace tributary::switchd
