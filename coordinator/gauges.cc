#include "coordinator/gauges.h"

#include <chrono>

#include "core/service/metrics/reading_metrics.h"

namespace tributary {
namespace {

constexpr std::uint32_t kStoredOnceIn = 10;  // exports

}  // namespace

void Gauges::publish(const Coordinator& machine, const Sent& sent, CoordinatorStorage& storage,
                     Metrics& metrics) {
  const bool store = until_stored_ == 0;
  until_stored_ = store ? kStoredOnceIn - 1 : until_stored_ - 1;
  const auto gauge = [&](ReadingKind kind, auto value) {
    const Reading reading = {.kind = kind, .value = static_cast<double>(value)};
    tributary::publish(reading, metrics);
    if (store) storage.telemetry().metric(reading);
  };
  gauge(ReadingKind::agents, machine.agents().size());
  // Stored once for the process; exported for each job below.
  if (store) {
    storage.telemetry().metric({.kind = ReadingKind::model_version,
                                .value = static_cast<double>(machine.model_version())});
  }
  for (const JobView& job : machine.jobs()) {
    tributary::publish(
        {.kind = ReadingKind::model_version, .value = static_cast<double>(job.rounds_committed)},
        metrics, job.name);
  }
  gauge(ReadingKind::buffered_bytes, machine.buffered_bytes());
  gauge(ReadingKind::outgoing_bytes, machine.outgoing_bytes());
  gauge(ReadingKind::link_in_bytes, sent.link.bytes_in);
  gauge(ReadingKind::link_out_bytes, sent.link.bytes_out);
  gauge(ReadingKind::link_in_messages, sent.link.messages_in);
  gauge(ReadingKind::link_out_messages, sent.link.messages_out);
  gauge(ReadingKind::sends_dropped, sent.dropped);
  gauge(ReadingKind::telemetry_rows_dropped, storage.telemetry().dropped());
  if (const auto lag = storage.durability_lag()) {
    metrics.set("tributary_durability_lag_seconds", std::chrono::duration<double>(*lag).count());
  }
}

}  // namespace tributary
