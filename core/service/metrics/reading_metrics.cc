#include "core/service/metrics/reading_metrics.h"

#include <optional>

#include "core/round/common/machine/message_bytes.h"
#include "core/round/common/machine/repeated_bytes.h"

namespace tributary {
namespace {

constexpr std::string_view kGaugePrefix = "tributary_";

// Bytes of messages have one counter for each direction and use.
void count_messages(const Reading& reading, Metrics& metrics) {
  for (const MessageUseNames& names : kMessageUseNames) {
    const bool up = reading.kind == names.up;
    if (!up && reading.kind != names.down) continue;
    metrics.count(kMessageBytesMetric,
                  {{"direction", up ? "up" : "down"}, {"use", std::string(names.name)}},
                  reading.value);
  }
}

// Repeated bytes have one counter for each direction and cause.
void count_repeated(const Reading& reading, Metrics& metrics) {
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    if (reading.kind != field.reading) continue;
    metrics.count(
        kRepeatedBytesMetric,
        {{"direction", std::string(field.direction)}, {"cause", std::string(field.cause)}},
        reading.value);
  }
}

}  // namespace

std::string gauge_name(ReadingKind kind) { return std::string(kGaugePrefix) += reading_name(kind); }

void publish(const Reading& reading, Metrics& metrics) {
  switch (facts_of(reading.kind).group) {
    case ReadingGroup::messages:
      return count_messages(reading, metrics);
    case ReadingGroup::repeated:
      return count_repeated(reading, metrics);
    case ReadingGroup::round:
    case ReadingGroup::link:
    case ReadingGroup::agent:
    case ReadingGroup::state:
      return metrics.set(gauge_name(reading.kind), reading.value);
  }
}

std::string_view metric_help(std::string_view metric) {
  if (metric == kMessageBytesMetric) return "Bytes of messages by direction and use.";
  if (metric == kRepeatedBytesMetric) {
    return "Payload bytes sent for nothing by direction and cause.";
  }
  if (!metric.starts_with(kGaugePrefix)) return {};
  const std::optional<ReadingKind> kind = reading_named(metric.substr(kGaugePrefix.size()));
  return kind ? facts_of(*kind).help : std::string_view();
}

}  // namespace tributary
