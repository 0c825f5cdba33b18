#include "switch_p4/switchd/jobs/job_installer.h"

#include <fmt/format.h>

#include <utility>

namespace tributary::switchd {

Status JobInstaller::try_install(const in_network::SlotJob& job) {
  if (!epochs_.is_new(job.handle, job.epoch)) {
    return Status(StatusCode::mismatch,
                  {.what = fmt::format("epoch of job {}", job.handle),
                   .expected = fmt::format("above {}", epochs_.highest(job.handle)),
                   .got = fmt::format("{}: it was used before", job.epoch)});
  }
  TRIBUTARY_TRY(epochs_.remember(job.handle, job.epoch));
  return plane_.install(job);
}

Status JobInstaller::install(const in_network::SlotJob& job) {
  Status status = try_install(job);
  if (status.ok()) {
    log_.info("switch", "epoch installed",
              {{"job", job.handle}, {"epoch", job.epoch}, {"agents", job.agents}});
  } else {
    log_.warning("switch", "epoch not installed",
                 {{"job", job.handle}, {"epoch", job.epoch}, {"error", status.text()}});
  }
  return status;
}

void JobInstaller::remove(std::uint16_t handle) {
  if (plane_.remove(handle).ok()) log_.info("switch", "job removed", {{"job", handle}});
}

}  // namespace tributary::switchd
