// All inputs of a plan, as plain numbers.
//
// They are stored with the plan, and the plan can be computed again from them
// (core/plan/inputs_text.h). A plan depends on nothing else: no clock, no memory of earlier plans,
// no property of the machine. Times are in seconds, sizes in bytes, and link costs follow alpha +
// beta * bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/cost/exchange_cost.h"
#include "core/cost/gain_points.h"
#include "core/plan/inputs/world.h"
#include "schemas/policy_generated.h"

namespace tributary {

// The codec whose payloads an aggregator in the network can add.
inline constexpr std::string_view kInNetworkCodec = "thc:bits=4";

// How the specs of a codec family differ, as far as a plan may choose among them.
enum class PlanFamily : std::uint8_t {
  fixed,     // no parameter of the plan; size and gain are as measured
  top_k,     // share of values that is kept; each agent selects its own positions
  ar_top_k,  // share that is kept; all agents send the values at one agent's positions
};

// The costs of one stage of a codec. The size of a bucket is a constant plus a term per value;
// times grow with the number of values.
struct PlanStage {
  StageFlow flow = StageFlow::reduced;
  double up_bytes = 0;
  double up_bytes_per_value = 0;
  double down_bytes = 0;
  double down_bytes_per_value = 0;
  double encode_s_per_value = 0;
  double aggregate_s_per_value = 0;
};

// The size and time of a codec on one core of the slowest device.
struct PlanCodec {
  std::string spec;  // without the ratio
  PlanFamily family = PlanFamily::fixed;
  double gain = 1;  // fixed family: share of the update's energy that is kept
  double decode_s_per_value = 0;
  // For a family with a ratio, only the times count, namely those of the first and the last stage.
  // Its sizes follow from the ratio.
  std::vector<PlanStage> stages = {};
};

// The known properties of one agent. NaN: unknown.
struct PlanAgent {
  std::string name = {};       // for display; may be empty
  double alpha_s = 0;          // one-way latency to the coordinator
  double beta_s_per_byte = 0;  // uplink to the coordinator
  // Downlink; NaN: as the uplink.
  double down_beta_s_per_byte = std::numeric_limits<double>::quiet_NaN();
  double weight = 1;
  double compute_s = 0;  // training time per round
  GainPoints gain = {};
  // Gain of the codecs that the agent tried on its own updates, or whose gain follows from the
  // norms of its update, by spec.
  std::map<std::string, double> tried = {};
};

// A codec that some agents have tried.
struct PlanTried {
  std::string spec;
  std::uint64_t rounds = 0;  // rounds since the last trial
  double curve_gain = 0;     // PlanPredictor::curve_gain() at the last trial
};

// The parameters that a plan chooses.
struct PlanChoice {
  std::string codec;  // spec with the ratio
  wire::Collective collective = wire::Collective::star;
  double ratio = 1;
  std::uint64_t bucket_values = 0;

  friend bool operator==(const PlanChoice&, const PlanChoice&) = default;
};

// The choice in force and the inputs behind it. Changes are measured against it.
struct PlanBefore {
  PlanChoice choice = {};
  std::uint64_t rounds = 0;  // number of rounds that the choice has been in force
  std::uint64_t agents = 0;
  LinkEstimate link = {};  // the slowest agent's link to the coordinator
  LinkEstimate peers = {};
  double exchange_s = 0;  // as predicted at the choice
  double gain = 1;        // as predicted at the choice
  // Ratio of each agent, by agent. Empty: all have the ratio of the choice.
  std::vector<double> ratios = {};
  double down_weight = 1;  // set at the choice, for a codec with a rate (down_weight.h)
  // Assumed gain of codecs without a ratio, by spec. Empty: exploring is off.
  std::map<std::string, double> gains = {};
};

// The job's policy. The caller keeps the budgets up to date: they are the remainders.
struct PlanPolicy {
  wire::PlanGoal goal = wire::PlanGoal::adaptive;  // never `fixed`
  double gain_weight = 1;  // weight of the gain against time at the knee of the Pareto set
  double gain_min = 0.05;  // least gain of a choice, unless no choice reaches it
  double ratio_min = 0.001;
  double ratio_max = 0.1;
  double hysteresis = 0.05;  // relative score by which a new choice must be better
  // Least number of rounds between two choices, if no belief says how sure they are, and between
  // two requests for trials.
  std::uint32_t dwell_rounds = 5;
  double link_change = 0.2;  // relative change of a link or a time that is a reason to choose again
  // The same for the gain.
  double gain_change = 0.1;
  double budget_s = 0;          // remaining time in seconds, for rounds_left rounds
  double bytes_left_today = 0;  // of the agent with the least remaining bytes
  double seconds_left_today = 86400;
  std::uint64_t rounds_left = 0;
  // Share of the rounds' time that an agent may spend on codec trials. 0: no trials.
  double exploring_share = 0;
  std::uint64_t trial_rounds = 100;  // rounds until a codec is tried again
  // The codecs, by spec, and the collectives among which the plan chooses; empty: all. While none
  // of these collectives is possible, the star stands in.
  std::vector<std::string> codecs = {};
  std::vector<wire::Collective> collectives = {};
};

// One job's inputs at one time.
struct PlanInputs {
  std::uint64_t values = 0;
  std::vector<PlanAgent> agents = {};
  double hub_beta_s_per_byte = 0;  // the coordinator's own link, shared by all agents; 0: no limit
  // The slowest link between two agents. NaN: not measured; an agent's link to the coordinator
  // stands in.
  double peer_alpha_s = 0;
  double peer_beta_s_per_byte = 0;
  bool peers_reachable = false;
  bool aggregator_present = false;  // an aggregator in the network adds payloads of kInNetworkCodec
  double message_s = 0;  // CPU time per message at the coordinator, and at an agent of its speed
  double agent_slowdown = 1;  // CPU time per message at the slowest agent, relative to message_s
  // Whether a round among peers ends at the coordinator: each agent sends its share of the result
  // there, and the coordinator's commit follows.
  bool settled = false;
  // Whether agents train for the next round while results of peers go to the coordinator, and send
  // them after the exchange. A round then takes the exchange and the longer of both.
  bool trains_ahead = false;
  double overhead_s = 0;  // time of each round beside training and exchange, for every choice
  double cores = 1;       // cores of an agent
  std::vector<PlanCodec> codecs = {};
  // Share of another agent's energy (beyond that of random positions) that one agent's positions
  // keep, relative to that other agent's own positions. It shows how much is lost if all agents use
  // one agent's positions.
  double agreement = 1;
  bool own_ratios = true;  // agents may keep different ratios (agent_ratios.h)
  // Equally probable states of links, overhead and factors. Empty: the stated links are certain.
  std::vector<PlanWorld> worlds = {};
  PlanPolicy policy = {};
  std::optional<PlanBefore> before = {};  // empty before the first plan
  std::vector<PlanTried> tried = {};
  // Rounds since agents were last asked to try codecs, or since the start.
  std::uint64_t rounds_unasked = 0;
  std::uint64_t asked_in_vain = 0;  // number of requests since the last answer
};

// Returns invalid_argument, with the name of the number and its bounds, if an input is invalid. An
// unknown (NaN) input is valid where its comment allows NaN.
Status check(const PlanInputs& inputs);

}  // namespace tributary
