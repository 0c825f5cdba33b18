// Publishes readings of the state machines as metrics for Prometheus.
//
// Bytes of messages and repeated payload bytes are counters with labels. Every other reading has
// the metric that the table of metrics (metric_names.h) names.
#pragma once

#include <string_view>

#include "core/round/common/machine/actions.h"
#include "core/service/metrics/metrics.h"

namespace tributary {

inline constexpr std::string_view kMessageBytesMetric = "tributary_message_bytes_total";
inline constexpr std::string_view kRepeatedBytesMetric = "tributary_repeated_bytes_total";

// `job` is the name of the reading's job, which becomes a label; empty: no label. A reading of
// ReadingGroup::link has no metric.
void publish(const Reading& reading, Metrics& metrics, std::string_view job = {});

}  // namespace tributary
