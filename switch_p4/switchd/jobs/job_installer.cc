#include "switch_p4/switchd/jobs/job_installer.h"

#include <fmt/format.h>

#include <utility>

namespace tributary::switchd {

Status JobInstaller::try_install(const in_network::SlotJob& job, std::uint64_t owner) {
  const auto owned = owners_.find(job.handle);
  if (owned != owners_.end() && owned->second != owner) {
    return Status(StatusCode::already_exists,
                  {.what = fmt::format("handle {} of the aggregator", job.handle),
                   .expected = fmt::format("job {:016x}, which has it", owned->second),
                   .got = fmt::format("job {:016x}", owner),
                   .remedy = "wait for the end of that job"});
  }
  if (!epochs_.is_new(job.handle, job.epoch)) {
    return Status(StatusCode::mismatch,
                  {.what = fmt::format("epoch of job {}", job.handle),
                   .expected = fmt::format("above {}", epochs_.highest(job.handle)),
                   .got = fmt::format("{}: it was used before", job.epoch)});
  }
  TRIBUTARY_TRY(plane_.check(job));
  TRIBUTARY_TRY(epochs_.remember(job.handle, job.epoch));
  TRIBUTARY_TRY(plane_.install(job));
  owners_[job.handle] = owner;
  return {};
}

Status JobInstaller::install(const in_network::SlotJob& job, std::uint64_t owner) {
  Status status = try_install(job, owner);
  if (status.ok()) {
    log_.info("switch", "epoch installed",
              {{"job", job.handle}, {"epoch", job.epoch}, {"agents", job.agents}});
  } else {
    log_.warning("switch", "epoch not installed",
                 {{"job", job.handle}, {"epoch", job.epoch}, {"error", status.text()}});
  }
  return status;
}

void JobInstaller::remove_all() {
  while (!owners_.empty()) remove(owners_.begin()->first);
}

void JobInstaller::remove(std::uint16_t handle) {
  owners_.erase(handle);
  if (plane_.remove(handle).ok()) log_.info("switch", "job removed", {{"job", handle}});
}

}  // namespace tributary::switchd
