// What the journal keeps for people, gathered until it is handed over: events, readings, and what
// links are like.
//
// Threads: one at a time.
#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/store/coordinator/telemetry_rows.h"

namespace tributary {

class Chronicle {
 public:
  // The clock must outlive it.
  explicit Chronicle(const Clock& clock) : clock_(clock) {}

  void event(const Note& note);
  void metric(const Reading& reading);
  // Its date is set here.
  void link(LinkSampleRecord sample);

  // What has come since the last call, as many rows as the journal takes at once.
  TelemetryRows take();
  // Rows for which there was no room.
  std::uint64_t dropped() const { return dropped_; }

 private:
  bool room();

  const Clock& clock_;
  TelemetryRows rows_;
  std::uint64_t dropped_ = 0;
};

}  // namespace tributary
