// The data of one job that a report needs, read from a coordinator's journal. Memory is bounded;
// `left_out` states what was omitted.
//
// The values are copies: the journal may change or be closed afterwards. Texts come from agents and
// are not checked; the pages that show them escape them. Reading costs one pass over the journal.
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

// One exchange of a round: the values that share a codec and a collective.
struct ExchangeUse {
  std::string codec;
  std::string collective;
  double ratio = 1;  // share of the values that is kept
  std::uint64_t values = 0;
};

// One committed round. Times are seconds since the start of the first round, in wall-clock time:
// pauses count.
struct RoundRow {
  std::uint64_t round = 0;
  std::uint32_t attempt = 0;
  double began_s = 0;
  double ended_s = 0;
  std::uint32_t members = 0;
  std::uint32_t asked = 0;         // agents that the plan asked for a contribution
  std::uint32_t contributors = 0;  // agents with at least one bucket in the result
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t model_hash = 0;
  // Bytes of the same updates as float32 (core/run/round_counts.h); NaN: the number of parameters
  // is unknown.
  double dense_bytes_up = 0;
  double dense_bytes_down = 0;

  // The following fields are from the plan and are valid only if it could be read.
  bool planned = false;
  std::vector<ExchangeUse> exchanges;  // most values first
  std::string trigger;
  std::string sentence;

  // Means over the agents that reported; NaN without a report.
  std::uint32_t reports = 0;
  double train_loss = 0;
  double compute_s = 0;
  double encode_s = 0;
  double wait_s = 0;

  double seconds() const { return ended_s - began_s; }
  // Returns all codecs of the round: "thc:bits=4" or "thc:bits=4 + fp32".
  std::string codecs() const;
  std::string collectives() const;
  // The ratio of the exchange with most values; NaN without an exchange.
  double ratio() const;
};

// One reading of a metric, of the coordinator or of one agent.
struct MetricRow {
  std::string name;
  std::string agent_id;  // empty: a reading of the coordinator
  std::uint64_t round = 0;
  double time_s = 0;
  double value = 0;  // NaN: a gap
};

// One measurement of a link between the coordinator and an agent.
struct LinkRow {
  std::string agent_id;
  double time_s = 0;
  bool to_agent = true;
  double alpha_s = 0;          // NaN: not measured
  double beta_s_per_byte = 0;  // NaN: not measured
};

// An agent that was a member of an epoch of the job or has reported a round.
struct AgentRow {
  std::string agent_id;
  std::string device_model;
  std::string build;
  std::uint64_t rounds_contributed = 0;
  std::uint64_t rounds_member = 0;  // counts only epochs that are still in the journal
  std::uint64_t reports = 0;
  double compute_s = 0;   // mean of the reports
  double train_loss = 0;  // the last one; NaN: none
};

// Events of level warning or above; events with the same level, name and reason are one row.
struct TroubleRow {
  LogLevel level = LogLevel::warning;
  std::string name;
  std::string reason;
  std::uint64_t count = 0;
  std::uint64_t last_round = 0;
  std::string last_text;
};

// Everything that a report shows. Unknown numbers are NaN or 0, as stated at each member.
struct RunData {
  std::uint64_t job = 0;
  std::string job_name;
  std::string state;
  std::string state_reason;
  std::string model;
  std::uint64_t rounds_configured = 0;  // 0: not in the definition
  std::uint64_t parameters = 0;         // values of the layer map
  std::int64_t began_wall_ns = 0;
  std::vector<RoundRow> rounds;  // ascending
  std::vector<MetricRow> metrics;
  std::vector<LinkRow> links;
  std::vector<AgentRow> agents;
  std::vector<TroubleRow> troubles;
  std::uint64_t aborts = 0;
  std::uint64_t divergences = 0;
  MissingRounds missing;
  // Sentences that state what is missing, or was omitted because of a limit.
  std::vector<std::string> left_out;

  // Returns the readings of this metric, by agent. The empty identifier is the coordinator.
  std::map<std::string, std::vector<MetricRow>> metric(std::string_view name) const;
};

// Reads the job with this name or number. If the text is empty or several jobs have the name, reads
// the one submitted last. The coordinator may be running. Fails with not_found without such a job.
Result<RunData> read_run(RunFile& file, const std::string& job);

}  // namespace tributary::report
