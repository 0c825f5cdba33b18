// Everything that a plan is made from, as plain numbers: what is stored with it, and what it can be
// made from again (named_numbers.h). Nothing else goes in: no clock, no memory, no machine.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/cost/exchange_cost.h"
#include "core/plan/inputs/gain_points.h"
#include "schemas/policy_generated.h"

namespace tributary {

// How the codecs of a family differ from one another.
enum class PlanFamily : std::uint8_t {
  fixed,     // they do not: sizes and gain are as measured
  top_k,     // by the share that is kept; every agent has places of its own
  ar_top_k,  // by the share that is kept; all agents send the values at one agent's places
};

// Of one stage of a codec. Bytes of a bucket are a sum of both, times grow with its values.
struct PlanStage {
  StageFlow flow = StageFlow::reduced;
  double up_bytes = 0;
  double up_bytes_per_value = 0;
  double down_bytes = 0;
  double down_bytes_per_value = 0;
  double encode_s_per_value = 0;
  double aggregate_s_per_value = 0;
};

// What a codec weighs and costs on one core of the slowest device.
struct PlanCodec {
  std::string spec;  // without the share that is kept
  PlanFamily family = PlanFamily::fixed;
  double gain = 1;  // of a fixed one: the share of the update's energy that gets through
  double decode_s_per_value = 0;
  // Of a family with a ratio only the times count, the first stage's and the last one's: its sizes
  // follow from the ratio.
  std::vector<PlanStage> stages = {};
};

// What is known of one agent. NaN: not known.
struct PlanAgent {
  std::string name = {};       // for people; may be empty
  double alpha_s = 0;          // to the coordinator, one way
  double beta_s_per_byte = 0;  // on the way to it
  double down_beta_s_per_byte = std::numeric_limits<double>::quiet_NaN();  // not known: as above
  double weight = 1;
  double compute_s = 0;  // of a round's training
  GainPoints gain = {};
  // What got through where it tried codecs on its own updates, by spec.
  std::map<std::string, double> tried = {};
};

// Of a codec that some agents have tried.
struct PlanTried {
  std::string spec;
  std::uint64_t rounds = 0;  // since then
  double curve_gain = 0;     // PlanPredictor::curve_gain() at that time
};

struct PlanChoice {
  std::string codec;  // with its ratio
  wire::Collective collective = wire::Collective::star;
  double ratio = 1;
  std::uint64_t bucket_values = 0;

  friend bool operator==(const PlanChoice&, const PlanChoice&) = default;
};

// The choice in force, and what it was made from: what changes are measured against.
struct PlanBefore {
  PlanChoice choice = {};
  std::uint64_t rounds = 0;  // that it has been in force for
  std::uint64_t agents = 0;
  LinkEstimate line = {};  // the slowest agent's
  LinkEstimate peers = {};
  double exchange_s = 0;  // as it was predicted
  double gain = 1;        // likewise
  // By agent: the share that each keeps. Empty: all keep the choice's.
  std::vector<double> ratios = {};
  // By spec: what codecs without a ratio were believed to let through. Empty: nobody explores.
  std::map<std::string, double> gains = {};
};

// Kept by whoever asks for plans: budgets are what is left of them.
struct PlanPolicy {
  wire::PlanGoal goal = wire::PlanGoal::adaptive;  // never `fixed`
  double gain_weight = 1;                          // how much the knee prefers gain, against time
  double gain_min = 0.05;  // nothing that lets less through, unless there is nothing else
  double ratio_min = 0.001;
  double ratio_max = 0.1;
  double hysteresis = 0.1;  // by how much a new choice has to be better
  std::uint32_t dwell_rounds = 5;
  double link_change = 0.2;  // relative, from what the last choice was made from
  double gain_change = 0.1;
  double budget_s = 0;          // left, for rounds_left
  double bytes_left_today = 0;  // of the agent that has least
  double seconds_left_today = 86400;
  std::uint64_t rounds_left = 0;
  // Of the rounds' time, how much an agent may take to try codecs; 0: none is tried.
  double exploring_share = 0;
  std::uint64_t trial_rounds = 100;  // a codec is tried again after so many
};

struct PlanInputs {
  std::uint64_t values = 0;
  std::vector<PlanAgent> agents = {};
  double hub_beta_s_per_byte = 0;  // of the coordinator's line; 0: it is not what limits
  // Between agents, the slowest pair's; NaN: not measured, and an agent's own line is taken.
  double peer_alpha_s = 0;
  double peer_beta_s_per_byte = 0;
  bool peers_reachable = false;
  double message_s = 0;  // of a core, at each end
  // What peers come to goes to the coordinator as well, a share from each, and its word comes back:
  // a round among them is not over before.
  bool settled = false;
  double overhead_s = 0;  // of every round beside training and exchange, however it is carried out
  double cores = 1;       // of an agent
  std::vector<PlanCodec> codecs = {};
  // How much more of the update's energy is lost where all agents use one agent's places: the share
  // of what those places hold of another agent's energy that its own would.
  double agreement = 1;
  bool own_ratios = true;  // agents may keep different shares (agent_ratios.h)
  // Measured over predicted time, by collective and by codec's spec. None: 1.
  std::map<std::string, double> corrections = {};
  PlanPolicy policy = {};
  std::optional<PlanBefore> before = {};  // none yet
  std::vector<PlanTried> tried = {};
  std::uint64_t rounds_unasked = 0;  // since agents were asked to try something, or since the start
  std::uint64_t asked_in_vain = 0;   // how often, since any of them has answered
};

// invalid_argument names the number and where it may lie. What is merely not known is no error.
Status check(const PlanInputs& inputs);

}  // namespace tributary
