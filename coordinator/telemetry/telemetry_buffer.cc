#include "coordinator/telemetry/telemetry_buffer.h"

#include <utility>

#include "core/store/database/journal.h"

namespace tributary {

bool TelemetryBuffer::has_space() {
  if (rows_.size() < kTelemetryRowsMax) return true;
  ++dropped_;
  return false;
}

void TelemetryBuffer::event(const Note& note) {
  if (has_space()) rows_.events.push_back({.at_wall_ns = wall_time_ns(clock_), .note = note});
}

void TelemetryBuffer::metric(const Reading& reading) {
  if (!has_space()) return;
  rows_.metrics.push_back({.at_wall_ns = wall_time_ns(clock_),
                           .reading = {.name = reading_name(reading.kind),
                                       .value = reading.value,
                                       .job = reading.job,
                                       .round = reading.round,
                                       .agent_id = reading.agent_id}});
}

void TelemetryBuffer::link(LinkSampleRecord sample) {
  if (!has_space()) return;
  sample.at_wall_ns = wall_time_ns(clock_);
  rows_.link_samples.push_back(std::move(sample));
}

TelemetryRows TelemetryBuffer::take() { return std::exchange(rows_, {}); }

}  // namespace tributary
