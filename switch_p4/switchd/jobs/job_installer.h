// Installs epochs of jobs: the number is on the disk before the data plane serves the epoch.
//
// An epoch that was served before a restart stays refused, because its sums are gone. One thread.
#pragma once

#include <cstdint>

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

  // Returns mismatch for an epoch that is not above all that the job has had, and the errors of
  // SlotRules::install().
  Status install(const in_network::SlotJob& job);
  void remove(std::uint16_t handle);
  std::uint32_t highest(std::uint16_t handle) const { return epochs_.highest(handle); }

 private:
  Status try_install(const in_network::SlotJob& job);

  EpochFile epochs_;
  DataPlane& plane_;
  Log& log_;
};

}  // namespace tributary::switchd
