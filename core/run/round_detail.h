// One round, as its plan and the reports on it tell: what there was to choose from and why it was
// this, and what each agent did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

struct PlanAlternative {
  std::string codec = {};
  std::string collective = {};
  double ratio = 1;
  double encode_s = 0;
  double wire_s = 0;
  double decode_s = 0;
  double round_s = 0;  // predicted
  double gain = 0;     // share of the update's energy that gets through
  bool pareto = false;
  bool chosen = false;  // of the Pareto set: the knee
};

struct PlanExchange {
  std::string codec = {};
  std::string collective = {};
  std::string fallback = {};
  double ratio = 1;
  std::uint64_t buckets = 0;
  std::uint64_t values = 0;
};

struct PlanObservation {
  std::string name = {};
  std::string unit = {};
  double value = 0;
  std::string agent_id = {};  // empty: of the coordinator, or of all
  double age_s = 0;
};

enum class AgentPart : std::uint8_t {
  contributed,  // to every bucket that counted
  partly,       // to some
  left_out,     // was asked, and is in none
  not_asked,
};

// Seconds one after the other, from the plan's arrival: they make a row of a Gantt chart. Where the
// wait ends the result is there; what is left of the round went on elsewhere. NaN: no report.
struct AgentInRound {
  std::string agent_id = {};  // "#3", if the file does not have the epoch any more
  AgentPart part = AgentPart::not_asked;
  std::uint64_t buckets = 0;  // that it is in
  double weight = 0;
  double ratio = 0;  // that it keeps at most; NaN: as the codec says
  bool reported = false;
  std::uint32_t attempt = 0;  // that its report is of
  double compute_s = 0;
  double encode_s = 0;
  double wait_s = 0;
  double decode_s = 0;
  double loss = 0;
  double update_norm = 0;
  double residual_norm = 0;
  double gain = 0;  // share of its update's energy that what it kept has
  std::uint64_t examples = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};

struct RoundDetail {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::uint32_t epoch = 0;
  std::uint32_t attempt = 0;  // the one that counted: so many failed before
  std::uint32_t members = 0;
  double seconds = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t previous_hash = 0;
  std::uint64_t model_hash = 0;
  std::uint64_t buckets = 0;          // of all exchanges of the round
  std::uint64_t buckets_counted = 0;  // that have a result

  bool planned = false;  // false: there is no plan that this build can read, and none of these
  std::string purpose = {};
  std::string trigger = {};
  std::string sentence = {};
  std::uint32_t quorum = 0;
  std::uint32_t deadline_ms = 0;
  std::uint32_t local_steps = 0;
  double learning_rate = 0;
  std::uint32_t exchanges_per_round = 1;
  std::vector<PlanExchange> exchanges = {};
  std::vector<PlanAlternative> alternatives = {};
  std::vector<PlanObservation> observations = {};
  std::string inputs = {};  // what it was decided from, as JSON (core/plan/inputs_text.h)

  std::vector<AgentInRound> agents = {};
};

// not_found: no such round was committed.
Result<RoundDetail> read_round_detail(RunFile& file, std::uint64_t job, std::uint64_t round);

}  // namespace tributary
