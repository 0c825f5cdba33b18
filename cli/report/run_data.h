// What a run has left in its coordinator's journal, as far as a report needs it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/store/coordinator/run_file.h"

namespace tributary::report {

// One way in which values of a round were exchanged.
struct ExchangeUse {
  std::string codec;
  std::string collective;
  double ratio = 1;  // fraction kept
  std::uint64_t values = 0;
};

// Times are seconds since the first round began, by the calendar: a pause counts.
struct RoundRow {
  std::uint64_t round = 0;
  std::uint32_t attempt = 0;
  double began_s = 0;
  double ended_s = 0;
  std::uint32_t members = 0;
  std::uint32_t asked = 0;         // to contribute
  std::uint32_t contributors = 0;  // that are in at least one bucket
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t model_hash = 0;

  // Of the plan; without one nothing is known of these.
  bool planned = false;
  std::vector<ExchangeUse> exchanges;  // most values first
  std::string trigger;
  std::string sentence;
  std::uint64_t dense_bytes_up = 0;    // 4 bytes x values x contributors, of each bucket
  std::uint64_t dense_bytes_down = 0;  // 4 bytes x values x members, of each bucket that counted

  // Means over the agents that reported; NaN where none did.
  std::uint32_t reports = 0;
  double train_loss = 0;
  double compute_s = 0;
  double encode_s = 0;
  double wait_s = 0;

  double seconds() const { return ended_s - began_s; }
  // "thc:bits=4" or "thc:bits=4 + fp32", as many as there are.
  std::string codecs() const;
  std::string collectives() const;
  // Of the exchange with most values; NaN without one.
  double ratio() const;
};

struct MetricRow {
  std::string name;
  std::string agent_id;  // empty: the coordinator's
  std::uint64_t round = 0;
  double time_s = 0;
  double value = 0;  // NaN: a gap
};

struct LinkRow {
  std::string agent_id;
  double time_s = 0;
  bool to_agent = true;
  double alpha_s = 0;          // NaN: not measured
  double beta_s_per_byte = 0;  // the same
};

struct AgentRow {
  std::string agent_id;
  std::string device_model;
  std::string build;
  std::uint64_t rounds_contributed = 0;
  std::uint64_t rounds_member = 0;  // of epochs that the journal still has
  std::uint64_t reports = 0;
  double compute_s = 0;   // mean of the reports
  double train_loss = 0;  // the last; NaN: none
};

// Events at warning or above, alike ones together.
struct TroubleRow {
  LogLevel level = LogLevel::warning;
  std::string name;
  std::string reason;
  std::uint64_t count = 0;
  std::uint64_t last_round = 0;
  std::string last_text;
};

struct RunData {
  std::uint64_t job = 0;
  std::string job_name;
  std::string state;
  std::string state_reason;
  std::string model;
  std::uint64_t rounds_wanted = 0;  // 0: the definition does not say
  std::uint64_t parameters = 0;     // values of the layer map
  std::int64_t began_wall_ns = 0;
  std::vector<RoundRow> rounds;  // ascending
  std::vector<MetricRow> metrics;
  std::vector<LinkRow> links;
  std::vector<AgentRow> agents;
  std::vector<TroubleRow> troubles;
  std::uint64_t aborts = 0;
  std::uint64_t divergences = 0;
  // What was left out because there was too much of it, in sentences.
  std::vector<std::string> left_out;

  // Those with a value, by agent.
  std::map<std::string, std::vector<MetricRow>> metric(std::string_view name) const;
};

// Of the job of that name, or with that number; the one submitted last, if the text is empty or
// several have the name.
Result<RunData> read_run(RunFile& file, const std::string& job);

}  // namespace tributary::report
