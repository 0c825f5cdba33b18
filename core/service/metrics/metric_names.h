// The table of every metric that a daemon exports: its name, type and help text.
//
// Names follow Prometheus: base units (seconds, bytes), and counters end with _total. A metric
// whose name has changed is also exported under its old name for one release. All functions are
// pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/round/common/machine/readings.h"

namespace tributary {

enum class MetricType : std::uint8_t { counter, gauge };

struct MetricFacts {
  std::string_view name;
  MetricType type = MetricType::gauge;
  std::string_view help = {};  // one sentence
  std::string_view old_name = {};
};

// Null if no metric has this name. Old names are not looked up.
const MetricFacts* metric_named(std::string_view name);

// The metric of a reading, without those of ReadingGroup::messages, repeated and link.
const MetricFacts& metric_of(ReadingKind kind);

}  // namespace tributary
