#include "coordinator/chronicle.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/store/journal.h"

namespace tributary {

Chronicle::Chronicle(const Clock& clock) : clock_(clock), interval_began_(clock.now()) {}

bool Chronicle::room() {
  if (rows_.size() < kTelemetryRowsMax) return true;
  ++dropped_;
  return false;
}

void Chronicle::event(const Note& note) {
  if (room()) rows_.events.push_back({.at_wall_ns = wall_time_ns(clock_), .note = note});
}

void Chronicle::metric(const Reading& reading) {
  if (room()) rows_.metrics.push_back({.at_wall_ns = wall_time_ns(clock_), .reading = reading});
}

void Chronicle::round_trip(const std::string& agent_id, double seconds) {
  const auto known = shortest_s_.find(agent_id);
  if (known != shortest_s_.end()) {
    known->second = std::min(known->second, seconds);
  } else if (shortest_s_.size() < kTelemetryRowsMax) {
    shortest_s_.emplace(agent_id, seconds);
  } else {
    ++dropped_;
  }
}

// Heartbeats are small: they say how long the way is, and nothing of how wide.
void Chronicle::close_samples() {
  interval_began_ = clock_.now();
  for (const auto& [agent_id, seconds] : std::exchange(shortest_s_, {})) {
    if (!room()) continue;
    rows_.link_samples.push_back({.at_wall_ns = wall_time_ns(clock_),
                                  .from = {},
                                  .to = agent_id,
                                  .method = wire::LinkMethod::passive,
                                  .alpha_s = seconds / 2,
                                  .beta_s_per_byte = std::numeric_limits<double>::quiet_NaN(),
                                  .confidence = 1});
  }
}

void Chronicle::uplink(const std::string& agent_id, double seconds_per_byte) {
  if (!room()) return;
  rows_.link_samples.push_back({.at_wall_ns = wall_time_ns(clock_),
                                .from = agent_id,
                                .to = {},
                                .method = wire::LinkMethod::passive,
                                .alpha_s = std::numeric_limits<double>::quiet_NaN(),
                                .beta_s_per_byte = seconds_per_byte,
                                .confidence = 1});
}

TelemetryRows Chronicle::take() {
  if (clock_.now() - interval_began_ >= kSampleEvery) close_samples();
  return std::exchange(rows_, {});
}

TelemetryRows Chronicle::take_all() {
  close_samples();
  return std::exchange(rows_, {});
}

}  // namespace tributary
