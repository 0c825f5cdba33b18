#include "core/service/metrics/reading_metrics.h"

#include <string>
#include <utility>

#include "core/round/common/machine/message_bytes.h"
#include "core/round/common/machine/repeated_bytes.h"
#include "core/service/metrics/metric_names.h"

namespace tributary {
namespace {

// Bytes of messages have one counter for each direction and use.
void count_messages(const Reading& reading, Metrics& metrics, Labels labels) {
  for (const MessageUseNames& names : kMessageUseNames) {
    const bool up = reading.kind == names.up;
    if (!up && reading.kind != names.down) continue;
    labels["direction"] = up ? "up" : "down";
    labels["use"] = names.name;
    metrics.count(kMessageBytesMetric, labels, reading.value);
  }
}

// Repeated bytes have one counter for each direction and cause.
void count_repeated(const Reading& reading, Metrics& metrics, Labels labels) {
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    if (reading.kind != field.reading) continue;
    labels["direction"] = field.direction;
    labels["cause"] = field.cause;
    metrics.count(kRepeatedBytesMetric, labels, reading.value);
  }
}

}  // namespace

void publish(const Reading& reading, Metrics& metrics, std::string_view job) {
  Labels labels;
  if (!job.empty()) labels["job"] = job;
  switch (facts_of(reading.kind).group) {
    case ReadingGroup::messages:
      return count_messages(reading, metrics, std::move(labels));
    case ReadingGroup::repeated:
      return count_repeated(reading, metrics, std::move(labels));
    case ReadingGroup::link:
      return;
    case ReadingGroup::round:
    case ReadingGroup::agent:
    case ReadingGroup::state:
      return metrics.set(metric_of(reading.kind).name, reading.value, labels);
  }
}

}  // namespace tributary
