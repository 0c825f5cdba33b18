// One round in detail, from its plan and the agents' reports: the alternatives, the reason of the
// choice, and the part of each agent. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

// A choice that the planner considered. Times in seconds are predictions per round.
struct PlanAlternative {
  std::string codec = {};
  std::string collective = {};
  double ratio = 1;
  double encode_s = 0;
  double wire_s = 0;
  double decode_s = 0;
  double round_s = 0;  // predicted duration of the round
  double gain = 0;     // share of the update's energy that the codec keeps
  bool pareto = false;
  bool chosen = false;  // chosen: the knee of the Pareto front
};

// An exchange of the plan, with the number and the size of its buckets.
struct PlanExchange {
  std::string codec = {};
  std::string collective = {};
  std::string fallback = {};
  double ratio = 1;
  std::uint64_t buckets = 0;
  std::uint64_t values = 0;
};

// An observation on which the decision was based.
struct PlanObservation {
  std::string name = {};
  std::string unit = {};
  double value = 0;
  std::string agent_id = {};  // empty: of the coordinator, or of all agents
  double age_s = 0;
};

// The part of an agent in a round.
enum class AgentPart : std::uint8_t {
  contributed,  // to every bucket that counted
  partly,       // to some buckets
  left_out,     // was a participant, but is in no bucket
  not_asked,
};

// The times in seconds follow one another from the arrival of the plan, so they form a row of a
// Gantt chart. The result has arrived at the end of the wait; the remaining part of the round took
// place elsewhere. Values are NaN without a report.
struct AgentInRound {
  std::string agent_id = {};  // "#3" (index of the member) if the epoch is no longer stored
  AgentPart part = AgentPart::not_asked;
  std::uint64_t buckets = 0;  // number of buckets that contain its contribution
  double weight = 0;
  double ratio = 0;  // largest ratio that it keeps; NaN: the codec's ratio
  bool reported = false;
  std::uint32_t attempt = 0;  // attempt to which its report belongs
  double compute_s = 0;
  double encode_s = 0;
  double wait_s = 0;
  double decode_s = 0;
  double loss = 0;
  double update_norm = 0;
  double residual_norm = 0;
  double gain = 0;  // share of its update's energy that its encoding kept
  std::uint64_t examples = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};

// All data of a round, for one page or report.
struct RoundDetail {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::uint32_t epoch = 0;
  std::uint32_t attempt = 0;  // the attempt that succeeded; equals the number of failed attempts
  std::uint32_t members = 0;
  double seconds = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t previous_hash = 0;
  std::uint64_t model_hash = 0;
  std::uint64_t buckets = 0;          // over all exchanges of the round
  std::uint64_t buckets_counted = 0;  // buckets with a result

  bool planned = false;  // false: this build cannot read the plan, and the fields below are empty
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
  std::string inputs = {};  // inputs of the decision as JSON (core/plan/inputs_text.h)

  // Members in the order of their index, then agents that reported without being a member.
  std::vector<AgentInRound> agents = {};
};

// Fails with not_found if the round was not committed, or as RunFile does. The result is bounded
// whatever the file claims.
Result<RoundDetail> read_round_detail(RunFile& file, std::uint64_t job, std::uint64_t round);

}  // namespace tributary
