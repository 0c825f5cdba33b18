// Telemetry rows of the coordinator's journal, and the limits of their retention.
//
// Plain values. Telemetry is worth less than the state of rounds: rows may be dropped before they
// are stored, and old ones are deleted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/round/common/machine/actions.h"
#include "schemas/frame_generated.h"

namespace tributary {

// Dates are wall-clock times in ns since 1970.
struct DatedNote {
  std::int64_t at_wall_ns = 0;
  Note note;
};
// A reading as the journal has it, by its published name. The journal takes any name.
struct NamedReading {
  std::string_view name;
  double value = 0;
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::string agent_id = {};  // empty: the coordinator's own
};
struct DatedReading {
  std::int64_t at_wall_ns = 0;
  NamedReading reading;
};
// A measured link in one direction.
struct LinkSampleRecord {
  std::int64_t at_wall_ns = 0;
  std::string from;  // agent id; empty: the coordinator
  std::string to;
  wire::LinkMethod method = wire::LinkMethod::unspecified;
  double alpha_s = 0;
  double beta_s_per_byte = 0;
  double confidence = 0;
};

// The rows of one transaction.
struct TelemetryRows {
  std::vector<DatedNote> events;
  std::vector<DatedReading> metrics;
  std::vector<LinkSampleRecord> link_samples;

  std::size_t size() const { return events.size() + metrics.size() + link_samples.size(); }
};

// Bounds of one call. Longer texts are cut to kTelemetryTextBytesMax bytes.
constexpr std::size_t kTelemetryRowsMax = 4096;
constexpr std::size_t kTelemetryTextBytesMax = 1024;

// Limits of one table. The oldest rows are deleted first, when the next rows are added.
struct TableLimits {
  std::uint64_t rows_max = 0;
  std::uint64_t bytes_max = 0;  // content only; pages and indexes add about half as much
  std::int64_t age_ns_max = 0;
};

constexpr std::int64_t kDayNs = 86'400'000'000'000;

// The default limits, per table.
struct Retention {
  TableLimits events = {.rows_max = 200'000, .bytes_max = 32u << 20, .age_ns_max = 90 * kDayNs};
  TableLimits metrics = {.rows_max = 2'000'000, .bytes_max = 128u << 20, .age_ns_max = 30 * kDayNs};
  TableLimits link_samples = {
      .rows_max = 500'000, .bytes_max = 32u << 20, .age_ns_max = 30 * kDayNs};
  TableLimits agent_rounds = {
      .rows_max = 1'000'000, .bytes_max = 128u << 20, .age_ns_max = 90 * kDayNs};
};

}  // namespace tributary
