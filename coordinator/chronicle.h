// What the journal keeps for people, gathered until it is handed over: events, readings, and how
// long the way to each agent is.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/store/telemetry_rows.h"

namespace tributary {

class Chronicle {
 public:
  // Of each agent's round trips, the shortest of so long becomes a sample: the others have waited
  // for something on their way.
  static constexpr std::chrono::seconds kSampleEvery{10};
  static constexpr std::chrono::seconds kUplinkEvery{1};

  // The clock must outlive it.
  explicit Chronicle(const Clock& clock);

  void event(const Note& note);
  void metric(const Reading& reading);
  // A round trip to an agent, in seconds, as heartbeats show it.
  void round_trip(const std::string& agent_id, double seconds);
  // How long a byte took on the line from an agent, as its payloads of a round show it; once in a
  // second of each agent.
  void uplink(const std::string& agent_id, double seconds_per_byte);

  // What has come since the last call, as many rows as the journal takes at once.
  TelemetryRows take();
  // The same with what would become a sample later: nothing more will come.
  TelemetryRows take_all();
  // Rows for which there was no room.
  std::uint64_t dropped() const { return dropped_; }

 private:
  bool room();
  void close_samples();

  const Clock& clock_;
  TelemetryRows rows_;
  std::map<std::string, double> shortest_s_;                    // by agent, of this interval
  std::map<std::string, std::chrono::nanoseconds> uplinks_at_;  // the last sample, by agent
  std::chrono::nanoseconds interval_began_;
  std::uint64_t dropped_ = 0;
};

}  // namespace tributary
