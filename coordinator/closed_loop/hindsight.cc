#include "coordinator/closed_loop/hindsight.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "coordinator/closed_loop/truth/declared_codecs.h"
#include "coordinator/closed_loop/truth/true_rounds.h"
#include "core/plan/search/predict.h"

namespace tributary {
namespace {

constexpr std::uint64_t kHindsightBuckets[] = {1u << 12, 1u << 14, 1u << 16, 1u << 18, 1u << 20};
constexpr std::size_t kHindsightRatios = 9;
// Rounds of a choice are steady if two in a row differ by at most this share.
constexpr double kSteadyShare = 0.002;
constexpr std::size_t kSteadyRoundsMax = 12;
constexpr std::size_t kSteadyMeanRounds = 4;

std::vector<double> hindsight_ratios(const PlanCodec& codec) {
  if (codec.family == PlanFamily::fixed) return {1};
  const PlanPolicy policy;
  std::vector<double> ratios;
  const double steps = kHindsightRatios - 1;
  for (std::size_t i = 0; i < kHindsightRatios; ++i) {
    const double share = static_cast<double>(i) / steps;
    ratios.push_back(policy.ratio_min * std::pow(policy.ratio_max / policy.ratio_min, share));
  }
  return ratios;
}

std::vector<std::uint64_t> hindsight_buckets(std::uint64_t values) {
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t size : kHindsightBuckets) {
    sizes.push_back(std::min(size, values));
    if (size >= values) break;
  }
  return sizes;
}

// The number of stages decides; their sizes do not.
double planned_messages(const PlanScenario& scenario, const PlanCodec& codec,
                        wire::Collective collective, std::uint64_t bucket_values) {
  std::vector<StagePayload> stages;
  for (const PlanStage& stage : codec.stages) stages.push_back({.flow = stage.flow});
  return messages_of(
      collective, stages, scenario.agents,
      std::ceil(static_cast<double>(scenario.values) / static_cast<double>(bucket_values)));
}

// The federation as it is at one time, without those who are absent.
TrueFederation still_at(const TrueFederation& federation, double at_s) {
  TrueFederation still = federation;
  still.agents.clear();
  for (const std::uint32_t member : federation.present(at_s)) {
    TrueAgent& agent = still.agents.emplace_back(federation.agents[member]);
    agent.up = agent.up.frozen(at_s);
    agent.down = agent.down.frozen(at_s);
    agent.peers = agent.peers.frozen(at_s);
    agent.period_s = 0;
  }
  return still;
}

std::vector<double> state_of(const TrueFederation& still) {
  std::vector<double> state;
  for (const TrueAgent& agent : still.agents) {
    state.push_back(agent.training_s);
    for (const LinkLine* const line : {&agent.up, &agent.down, &agent.peers}) {
      state.push_back(line->seconds_per_byte(0));
      state.push_back(line->latency_s(0));
    }
  }
  return state;
}

// The first rounds open the connections' windows, and a round hides as much of its training as the
// wait of the round before allows. So rounds are played until two in a row take the same time. If
// they alternate, the mean of the last ones counts.
double steady_pace(const PlanScenario& scenario, const TrueFederation& still,
                   const PlanChoice& choice) {
  TrueRounds rounds(scenario, still, std::nullopt);
  double now_s = 1;
  double gain = 0;
  std::array<double, kSteadyMeanRounds> last = {};
  for (std::size_t i = 0; i < kSteadyRoundsMax; ++i) {
    const TrueRound round = rounds.play(choice, {}, now_s);
    now_s = round.ends_s;
    gain = round.gain;
    const double took_s = round.ends_s - round.began_s;
    const double before_s = last[(i + last.size() - 1) % last.size()];
    if (i > 1 && std::abs(took_s - before_s) <= kSteadyShare * took_s) return gain / took_s;
    last[i % last.size()] = took_s;
  }
  const double sum_s = std::accumulate(last.begin(), last.end(), 0.0);
  return gain * static_cast<double>(last.size()) / sum_s;
}

}  // namespace

std::vector<PlanChoice> fixed_choices(const PlanScenario& scenario) {
  std::vector<PlanChoice> choices;
  const auto allowed = [](const auto& list, const auto& item) {
    return list.empty() || std::ranges::find(list, item) != list.end();
  };
  for (const PlanCodec& codec : declared_codecs()) {
    if (!allowed(scenario.plan_codecs, codec.spec)) continue;
    for (const wire::Collective collective : kCollectives) {
      const bool star = collective == wire::Collective::star;
      if (!allowed(scenario.plan_collectives, collective)) continue;
      if (!star && (!scenario.peers_reachable || scenario.agents < 2)) continue;
      for (const std::uint64_t size : hindsight_buckets(scenario.values)) {
        if (planned_messages(scenario, codec, collective, size) > kHindsightMessagesMax) continue;
        for (const double ratio : hindsight_ratios(codec)) {
          choices.push_back(make_choice(codec, collective, ratio, size));
        }
      }
    }
  }
  return choices;
}

RoundTimes::RoundTimes(const PlanScenario& scenario, const TrueFederation& federation,
                       const std::vector<PlanChoice>& choices)
    : scenario_(scenario), federation_(federation), choices_(choices) {}

std::vector<double> RoundTimes::paces_of(const TrueFederation& still) const {
  std::vector<double> paces;
  for (const PlanChoice& choice : choices_) {
    paces.push_back(steady_pace(scenario_, still, choice));
  }
  return paces;
}

const std::vector<double>& RoundTimes::paces(double at_s) {
  const TrueFederation still = still_at(federation_, at_s);
  const auto [place, fresh] = known_.try_emplace(state_of(still));
  if (fresh) place->second = paces_of(still);
  return place->second;
}

Result<HindsightResult> look_back(const PlanScenario& scenario, const TrueFederation& federation,
                                  const std::function<bool()>& go_on) {
  const std::vector<PlanChoice> choices = fixed_choices(scenario);
  RoundTimes times(scenario, federation, choices);
  std::vector<double> progress(choices.size(), 0.0);
  std::vector<double> reached_s(choices.size(), LinkLine::kNever);
  HindsightResult result = {.oracle_s = LinkLine::kNever};
  double oracle_progress = 0;
  double now_s = 0;
  double end_s = scenario.limit_s;
  while (now_s < end_s) {
    if (go_on && !go_on()) return stopped_run(scenario);
    const double next_s = std::min(federation.next_change_s(now_s), end_s);
    const std::vector<double>& paces = times.paces(now_s);
    const auto advance = [&](double& sum, double pace, double& reached) {
      const double needed_s = (scenario.goal - sum) / pace;
      if (reached == LinkLine::kNever && needed_s <= next_s - now_s) reached = now_s + needed_s;
      sum += pace * (next_s - now_s);
    };
    for (std::size_t i = 0; i < choices.size(); ++i) advance(progress[i], paces[i], reached_s[i]);
    advance(oracle_progress, std::ranges::max(paces), result.oracle_s);
    const double best_s = std::ranges::min(reached_s);
    end_s = std::min(end_s, kHindsightTimesMax * best_s);
    now_s = next_s;
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    result.fixed.push_back({.choice = choices[i], .seconds = std::min(reached_s[i], end_s)});
  }
  std::ranges::stable_sort(result.fixed, {}, &FixedResult::seconds);
  result.oracle_s = std::min(result.oracle_s, end_s);
  return result;
}

double play_fixed(const PlanScenario& scenario, const TrueFederation& federation,
                  const PlanChoice& choice, std::uint64_t seed) {
  TrueRounds rounds(scenario, federation, seed);
  double now_s = 0;
  double progress = 0;
  while (progress < scenario.goal && now_s < scenario.limit_s) {
    const TrueRound round = rounds.play(choice, {}, now_s);
    progress += round.gain;
    now_s = round.ends_s;
  }
  return now_s;
}

}  // namespace tributary
