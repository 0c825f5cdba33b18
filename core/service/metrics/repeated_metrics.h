// Counts payload bytes that were sent for nothing, by cause, from the readings of either machine.
#pragma once

#include <string>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/repeated_bytes.h"
#include "core/service/metrics/metrics.h"

namespace tributary {

// False: the reading is about something else, and nothing is counted.
inline bool count_repeated_bytes(const Reading& reading, Metrics& metrics) {
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    if (reading.name != field.reading) continue;
    metrics.count(
        "tributary_repeated_bytes_total",
        {{"direction", std::string(field.direction)}, {"cause", std::string(field.cause)}},
        reading.value);
    return true;
  }
  return false;
}

}  // namespace tributary
