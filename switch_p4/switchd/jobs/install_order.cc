#include "switch_p4/switchd/jobs/install_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/net/udp/udp_address.h"

namespace tributary::switchd {

Result<in_network::SlotJob> slot_job_of(const wire::InstallEpochT& order,
                                        std::uint32_t packet_values_max) {
  in_network::SlotJob job;
  if (order.places.size() != job.places.size()) {
    return Status(StatusCode::invalid_argument,
                  {.what = fmt::format("places of job {}", order.handle),
                   .expected = fmt::format("{}", job.places.size()),
                   .got = fmt::format("{}", order.places.size())});
  }
  job.handle = order.handle;
  job.epoch = order.epoch;
  job.agents = order.agents;
  job.granularity = order.granularity;
  std::ranges::copy(order.places, job.places.begin());
  job.table = order.table;
  job.slots = order.slot_count;
  job.packet_values = order.packet_values;
  // A coordinator of an earlier release names no number, and its agents send as many as fit.
  if (job.count() > packet_values_max) {
    return Status(StatusCode::invalid_argument,
                  {.what = fmt::format("values in a packet of job {}", order.handle),
                   .expected = fmt::format("{} at most, as switch.values says", packet_values_max),
                   .got = fmt::format("{}", job.count()),
                   .remedy = "update the coordinator"});
  }
  for (const std::string& source : order.sources) {
    TRIBUTARY_ASSIGN(const UdpAddress address, UdpAddress::parse(source));
    job.sources.push_back(address.number());
  }
  return job;
}

}  // namespace tributary::switchd
