// Publishes readings of the state machines as metrics for Prometheus.
//
// Bytes of messages and repeated payload bytes are counters with labels. Every other reading is a
// gauge named tributary_NAME.
#pragma once

#include <string>
#include <string_view>

#include "core/round/common/machine/actions.h"
#include "core/service/metrics/metrics.h"

namespace tributary {

inline constexpr std::string_view kMessageBytesMetric = "tributary_message_bytes_total";
inline constexpr std::string_view kRepeatedBytesMetric = "tributary_repeated_bytes_total";

// The name of the reading's gauge.
std::string gauge_name(ReadingKind kind);

void publish(const Reading& reading, Metrics& metrics);

// The help text of a metric: the help of its reading, or empty if the metric is not a reading.
std::string_view metric_help(std::string_view metric);

}  // namespace tributary
