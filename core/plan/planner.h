// The planner of one job: collects the results of rounds and the state of links, and decides after
// each round whether the plan changes.
//
// A decision depends only on its inputs, which are returned with it, so that it can be checked
// later (inputs_text.h). The planner does no I/O and reads no clock; the caller passes links,
// budgets and times. Its memory is bounded by kAgentsMax. Not thread-safe: one call at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/belief/belief.h"
#include "core/plan/decide.h"
#include "core/plan/inputs/device_speeds.h"

namespace tributary {

// The facts of a round that has ended.
struct RoundFacts {
  struct Agent {
    std::string id;
    double weight = 1;
    double compute_s = 0;
    // In the round before, from the report to the commit; 0: unknown. Among peers it is the upload
    // of the results, because an agent reports when it has them.
    double waited_s = 0;
    // Part of the training that was over when the round began, because the agent trained ahead.
    double hidden_s = 0;
    GainPoints gain = {};  // as the agent reported it; may be empty
    DeviceSpeeds speeds = {};
    // Gain of the codecs that the agent tried on its update since the previous round, by spec.
    std::map<std::string, double> tried = {};
    std::map<std::string, double> tried_bytes = {};  // bytes per value in these trials
    // Gain of codecs that follows from the norms of its update, without a trial, by spec.
    std::map<std::string, double> known_gains = {};
  };
  std::vector<Agent> agents;  // the participants of the round
  std::string codec;          // codec spec that the round used, as the plan chose it
  wire::Collective collective = wire::Collective::star;
  std::uint64_t bucket_values = 0;  // 0: unknown; the round then says nothing about times
  double exchange_s = 0;            // duration of the exchange; 0: unknown
  double bytes_up = 0;              // mean payload bytes per agent; 0: unknown
  // Number of the round. Some rounds never come here, and waits belong to the round before.
  std::uint64_t round = 0;
};

// The known state of all links at one time. NaN: not measured.
struct PlanLinks {
  struct Agent {
    double alpha_s = 0;
    double beta_s_per_byte = 0;
    double down_beta_s_per_byte = 0;
    // Standard errors of both rates, relative to the rate. The rate of a link with little traffic
    // is only roughly known.
    double beta_error = 0;
    double down_beta_error = 0;
  };
  std::map<std::string, Agent> agents;
  double peer_alpha_s = 0;
  double peer_beta_s_per_byte = 0;
  bool peers_reachable = false;
  bool aggregator_present = false;  // PlanInputs::aggregator_present
};

// The constants of a job.
struct PlannerConfig {
  std::uint64_t values = 0;
  std::vector<PlanCodec> codecs;
  DeviceSpeeds measured_on = {};  // speeds of the machine that measured the codecs
  double agreement = 1;
  bool own_ratios = true;
  double message_s = 0;
  double cores = 1;
  // Whether rounds end at a coordinator. Results of peers are then settled there, and the planner
  // learns the overhead that all rounds have in common.
  bool settled = false;
  // Whether agents are expected to train ahead of the commit until rounds among peers show it.
  bool trains_ahead = false;
};

// A decision and the inputs that it was made from.
struct Planned {
  PlanDecision decision;
  PlanInputs inputs;
};

class Planner {
 public:
  static constexpr double kGainShare = 0.3;  // weight of the newest reported gain
  // Weight of the newest trial, larger because trials are rare.
  static constexpr double kTrialShare = 0.5;
  static constexpr std::size_t kAgentsMax = 4096;
  // Number of worlds of the belief that a decision weighs; fewer if agents are many.
  static constexpr std::size_t kWorlds = 32;

  explicit Planner(PlannerConfig config);

  // Restores the state from a stored decision that is in force, after a restart.
  void resume(const Planned& planned);
  // Begins with what the planner of another job on the same machines knows: links and overhead, and
  // the errors of the cost model by collective and by codec. Gains belong to a job's own updates.
  // Must precede all rounds.
  void continue_from(const Planner& other);
  // Records a round that has ended. A round with another codec or collective than the decision's
  // does not count for learning.
  void round_over(const RoundFacts& facts);
  // Decides for the next round. Returns nothing if no reason for a change exists or no agent has
  // participated yet. A returned decision is in force from then on. Returns the error of
  // check(PlanInputs) if an input is invalid.
  Result<std::optional<Planned>> think(const PlanLinks& links, const PlanPolicy& policy);

 private:
  PlanInputs inputs(const PlanPolicy& policy, std::size_t worlds) const;
  // An exchange among peers; the next reports show its parts.
  struct Exchanged {
    std::uint64_t round = 0;
    PreparedExchange exchange;
    double exchange_s = 0;
    double elapsed_s = 0;
    std::vector<std::string> agents;
  };

  // Adds the readings that are new.
  void take(const PlanLinks& links);
  void learn_round(const RoundFacts& facts);
  // Learns which part of the round before was the exchange among the agents.
  void learn_parts(const PlanPredictor& predictor, const Exchanged& before,
                   const RoundFacts& facts);
  void learn_ahead(const RoundFacts& facts);
  void learn_size(const PlanCodec& codec, double bytes_per_value);
  void take_trials(const RoundFacts& facts);
  // Counts a decision that asks agents to try codecs.
  void asked(const PlanDecision& decision);

  PlannerConfig config_;
  Belief belief_;
  std::vector<RoundFacts::Agent> agents_;  // participants of the last round, with smoothed gains
  PlanLinks links_;                        // the last readings
  std::optional<Exchanged> exchanged_;
  bool by_peers_ = false;  // the last round
  bool trains_ahead_;
  std::uint64_t rounds_not_ahead_ = 0;  // in a row, after rounds among peers
  std::optional<PlanBefore> in_force_;
  // Results of trials by agent and spec, and the time of each codec's last trial.
  std::map<std::string, std::map<std::string, double>> tried_gains_;
  std::vector<PlanTried> tried_;
  std::uint64_t rounds_unasked_ = 0;
  std::uint64_t asked_in_vain_ = 0;
};

}  // namespace tributary
