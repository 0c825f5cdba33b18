// A job's planner: gathers what rounds and links tell, and thinks again after each round. What it
// decides from is in the decision's inputs and nowhere else, so that a decision can be checked
// later (inputs_text.h). Pure: lines, budgets and times are handed in.
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/decide.h"
#include "core/plan/inputs/device_speeds.h"
#include "core/plan/unseen_slowdown.h"

namespace tributary {

// What a round that is over has told.
struct RoundFacts {
  struct Agent {
    std::string id;
    double weight = 1;
    double compute_s = 0;
    GainPoints gain = {};  // as the agent has reported it; may be unknown
    DeviceSpeeds speeds = {};
    // By spec: what got through of its update where it has tried a codec since the round before.
    std::map<std::string, double> tried = {};
  };
  std::vector<Agent> agents;  // the participants
  std::string codec;          // that it was carried out by, as it was chosen
  wire::Collective collective = wire::Collective::star;
  double exchange_s = 0;  // that took; 0: not known
  double bytes_up = 0;    // of an agent's payloads, in the mean; 0: not known
};

// What is known of links at a moment. NaN: not measured.
struct PlanLines {
  struct Agent {
    double alpha_s = 0;
    double beta_s_per_byte = 0;
    double down_beta_s_per_byte = 0;
    // Standard errors of both, as shares of them: of little that goes over a line its rate can be
    // told only roughly.
    double beta_error = 0;
    double down_beta_error = 0;
  };
  std::map<std::string, Agent> agents;
  double hub_beta_s_per_byte = 0;
  double peer_alpha_s = 0;
  double peer_beta_s_per_byte = 0;
  bool peers_reachable = false;
};

struct PlannerConfig {
  std::uint64_t values = 0;
  std::vector<PlanCodec> codecs;
  DeviceSpeeds measured_on = {};  // of the machine that measured the codecs
  double agreement = 1;
  bool own_ratios = true;
  double message_s = 0;
  double cores = 1;
  // Rounds are a coordinator's: what peers come to is settled with it, and what all rounds take
  // beside that is learnt.
  bool settled = false;
};

struct Planned {
  PlanDecision decision;
  PlanInputs inputs;
};

class Planner {
 public:
  static constexpr double kGainShare = 0.3;   // of the way to what was reported last
  static constexpr double kTrialShare = 0.5;  // likewise, of trials, which are rare
  static constexpr std::size_t kAgentsMax = 4096;
  // What so many rounds have taken beside what was predicted; a fourth of them took less.
  static constexpr std::size_t kOverheadRounds = 32;
  static constexpr std::size_t kOverheadRoundsMin = 4;

  explicit Planner(PlannerConfig config);

  // What was decided before this planner was, and is in force.
  void resume(const Planned& planned);
  void round_over(const RoundFacts& facts);
  // Nothing: there is no reason to change anything, or nobody has taken part yet. From then on the
  // decision is in force.
  Result<std::optional<Planned>> think(const PlanLines& lines, const PlanPolicy& policy);

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  PlanInputs inputs(const PlanPolicy& policy) const;
  PlanInputs inputs_as_measured(const PlanPolicy& policy) const;
  // What is not known any more is as it was known last: readings disagree while a line changes. So
  // is what is known roughly, as long as that might be the same.
  void take(const PlanLines& lines);
  void learn_from_last_round();
  void learn_size(const RoundFacts& facts);
  void take_trials(const RoundFacts& facts);
  void asked(const PlanDecision& decision);
  double overhead_s() const;

  PlannerConfig config_;
  std::vector<RoundFacts::Agent> agents_;  // of the last round, with smoothed gains
  PlanLines lines_ = {.agents = {}, .peer_alpha_s = kUnknown, .peer_beta_s_per_byte = kUnknown};
  std::map<std::string, double> corrections_;
  // As they were at the last decision: what a line has done by changing since is not a codec's.
  std::map<std::string, double> corrections_before_;
  double exchange_s_ = 0;  // of the last round, if it went as decided; 0: nothing to learn from
  std::optional<PlanBefore> in_force_;
  PlanChoice carried_out_;  // in the last round that went as decided
  UnseenSlowdown slowdown_;
  // By spec, of codecs without a ratio: what payloads weighed, over what they were measured to.
  std::map<std::string, double> sizes_;
  std::deque<double> beside_s_;  // of the last rounds, the oldest first
  // What trials have come to: by agent and spec, and when each codec was tried last.
  std::map<std::string, std::map<std::string, double>> tried_gains_;
  std::vector<PlanTried> tried_;
  std::uint64_t rounds_unasked_ = 0;
  std::uint64_t asked_in_vain_ = 0;
};

}  // namespace tributary
