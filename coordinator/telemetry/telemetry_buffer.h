// A buffer of telemetry (events, readings, link samples) that waits to be written to the journal.
//
// It is bounded by kTelemetryRowsMax rows. When it is full, new rows are dropped and counted.
// Threads: one at a time.
#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/store/coordinator/telemetry_rows.h"

namespace tributary {

class TelemetryBuffer {
 public:
  // `clock` must outlive the object.
  explicit TelemetryBuffer(const Clock& clock) : clock_(clock) {}

  // Both add a row with the current wall time, unless the buffer is full.
  void event(const Note& note);
  void metric(const Reading& reading);
  // Sets the sample's time.
  void link(LinkSampleRecord sample);

  // Removes and returns all rows.
  TelemetryRows take();
  // Number of rows dropped because the buffer was full.
  std::uint64_t dropped() const { return dropped_; }

 private:
  bool has_space();

  const Clock& clock_;
  TelemetryRows rows_;
  std::uint64_t dropped_ = 0;
};

}  // namespace tributary
