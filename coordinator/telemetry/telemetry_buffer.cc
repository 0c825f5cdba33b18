#include "coordinator/telemetry/telemetry_buffer.h"

#include <utility>

#include "core/store/database/journal.h"

namespace tributary {

bool Chronicle::room() {
  if (rows_.size() < kTelemetryRowsMax) return true;
  ++dropped_;
  return false;
}

void Chronicle::event(const Note& note) {
  if (room()) rows_.events.push_back({.at_wall_ns = wall_time_ns(clock_), .note = note});
}

void Chronicle::metric(const Reading& reading) {
  if (!room()) return;
  rows_.metrics.push_back({.at_wall_ns = wall_time_ns(clock_),
                           .reading = {.name = reading_name(reading.kind),
                                       .value = reading.value,
                                       .job = reading.job,
                                       .round = reading.round,
                                       .agent_id = reading.agent_id}});
}

void Chronicle::link(LinkSampleRecord sample) {
  if (!room()) return;
  sample.at_wall_ns = wall_time_ns(clock_);
  rows_.link_samples.push_back(std::move(sample));
}

TelemetryRows Chronicle::take() { return std::exchange(rows_, {}); }

}  // namespace tributary
