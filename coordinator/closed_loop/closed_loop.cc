#include "coordinator/closed_loop/closed_loop.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "coordinator/closed_loop/seen_links.h"
#include "coordinator/closed_loop/truth/declared_codecs.h"
#include "coordinator/closed_loop/truth/true_rounds.h"
#include "coordinator/planning/job_planners.h"
#include "core/plan/search/measured_codecs.h"

namespace tributary {
namespace {

constexpr std::uint64_t kLoopJob = 1;
// The coordinator's own speed with every codec. Only the ratio to the agents' speeds matters.
constexpr double kDeclaredSpeed = 1e9;
// The planner plans for a job that does not end soon.
constexpr std::uint64_t kLoopRoundsLeft = 1'000'000;

std::string family_name(const std::string& spec) { return spec.substr(0, spec.find(':')); }

DeviceSpeeds speeds_of(double factor) {
  DeviceSpeeds speeds;
  for (const PlanCodec& codec : declared_codecs()) {
    speeds[family_name(codec.spec)] = {kDeclaredSpeed * factor, kDeclaredSpeed * factor};
  }
  return speeds;
}

class ClosedLoop {
 public:
  ClosedLoop(const PlanScenario& scenario, const TrueFederation& federation, std::uint64_t seed,
             SeenLinks& seen)
      : scenario_(scenario),
        federation_(federation),
        rounds_(scenario, federation, seed),
        seen_(seen),
        planners_([](std::uint32_t, const JobPlanners::GoOn&) { return declared_codecs(); },
                  [](const JobPlanners::GoOn&) { return speeds_of(1); }, [] { return true; }),
        choice_(first_choice(scenario)),
        waited_s_(federation.agents.size()) {
    for (const double factor : federation.reported_speed) {
      devices_.push_back(speeds_of(factor / federation.cpu_slowdown));
    }
  }

  Result<LoopResult> run(const std::function<bool()>& go_on) {
    double progress = 0;
    while (progress < scenario_.goal && result_.seconds < scenario_.limit_s) {
      if (go_on && !go_on()) return stopped_run(scenario_);
      const TrueRound round = rounds_.play(choice_, ratios_, result_.seconds);
      progress += round.gain;
      result_.seconds = round.ends_s;
      ++result_.rounds;
      TRIBUTARY_TRY(plan(round));
    }
    result_.reached = progress >= scenario_.goal;
    return std::move(result_);
  }

 private:
  // A decision arrives while the next round runs already, so it takes effect one round later.
  Status plan(const TrueRound& round) {
    const PlanChoice played = choice_;
    if (next_) {
      take(*std::exchange(next_, std::nullopt));
    }
    seen_.saw(round, played.collective == wire::Collective::star);
    const RoundFacts facts = facts_of(round, played);
    std::vector<std::string> ids;
    for (const RoundFacts::Agent& agent : facts.agents) ids.push_back(agent.id);
    TRIBUTARY_ASSIGN(Planner* const planner,
                     planners_.planner_of({.id = kLoopJob,
                                           .values = scenario_.values,
                                           .agents = static_cast<std::uint32_t>(ids.size())}));
    planner->round_over(facts);
    PlanLinks links = seen_.links_of(ids);
    links.peers_reachable = scenario_.peers_reachable;
    TRIBUTARY_ASSIGN(std::optional<Planned> planned,
                     planner->think(links, {.rounds_left = kLoopRoundsLeft,
                                            .codecs = scenario_.plan_codecs,
                                            .collectives = scenario_.plan_collectives}));
    if (planned) next_ = std::move(planned);
    return {};
  }

  void take(const Planned& planned) {
    const PlanDecision& decision = planned.decision;
    ratios_.clear();
    if (!decision.ratios.empty()) {
      ratios_.assign(federation_.agents.size(), decision.chosen.choice.ratio);
      for (std::size_t i = 0; i < decision.ratios.size(); ++i) {
        ratios_[places_.at(planned.inputs.agents[i].name)] = decision.ratios[i];
      }
    }
    const PlanChoice& choice = decision.chosen.choice;
    if (choice == choice_) return;
    if (family_name(choice.codec) != family_name(choice_.codec) ||
        choice.collective != choice_.collective) {
      ++result_.switches;
    }
    choice_ = choice;
    result_.decisions.push_back({.round = result_.rounds,
                                 .at_s = result_.seconds,
                                 .choice = choice,
                                 .reason = decision.reason});
  }

  // As PlanService::facts_of().
  RoundFacts facts_of(const TrueRound& round, const PlanChoice& played) {
    RoundFacts facts = {.agents = {},
                        .codec = played.codec,
                        .collective = played.collective,
                        .bucket_values = played.bucket_values};
    for (std::size_t i = 0; i < round.members.size(); ++i) {
      const std::uint32_t member = round.members[i];
      const TrueAgent& agent = federation_.agents[member];
      places_[agent.id] = member;
      facts.agents.push_back({.id = agent.id,
                              .compute_s = agent.training_s,
                              .waited_s = waited_s_[member],
                              .hidden_s = round.hidden_s[i],
                              .gain = declared_curve(),
                              .speeds = devices_[member],
                              .known_gains = declared_known_gains()});
    }
    std::ranges::fill(waited_s_, 0);
    for (std::size_t i = 0; i < round.members.size(); ++i) {
      waited_s_[round.members[i]] = round.exchanged.waits_s[i];
    }
    facts.exchange_s = std::max(round.ends_s - round.began_s - round.training_s, 0.0);
    facts.bytes_up = round.bytes_up;
    facts.round = result_.rounds;
    return facts;
  }

  const PlanScenario& scenario_;
  const TrueFederation& federation_;
  TrueRounds rounds_;
  SeenLinks& seen_;
  JobPlanners planners_;
  std::vector<DeviceSpeeds> devices_;          // by agent
  std::map<std::string, std::size_t> places_;  // of agents in the federation, by id
  PlanChoice choice_;
  std::vector<double> ratios_;    // by agent; empty: the ratio of the choice
  std::vector<double> waited_s_;  // by agent, in the last round; reported a round later
  std::optional<Planned> next_;
  LoopResult result_;
};

}  // namespace

PlanChoice first_choice(const PlanScenario& scenario) {
  const FirstChoice& first = scenario.first;
  return {.codec = first.codec.empty() ? std::string(kFirstPlannedCodec) : first.codec,
          .collective = first.collective,
          .bucket_values = std::min(first.bucket_values, scenario.values)};
}

Result<LoopResult> run_closed_loop(const PlanScenario& scenario, const TrueFederation& federation,
                                   std::uint64_t seed, const std::function<bool()>& go_on) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<SeenLinks> seen, SeenLinks::make(federation));
  return ClosedLoop(scenario, federation, seed, *seen).run(go_on);
}

}  // namespace tributary
