#include "coordinator/planning/plan_service.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/codec/registry.h"
#include "core/codec/thc/gain/rate_gain.h"
#include "core/plan/inputs_text.h"
#include "core/plan/search/down_weight.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

constexpr std::string_view kPlannerComponent = "planner";
constexpr std::int64_t kDay_s = 86'400;

struct Today {
  std::uint64_t day = 0;  // days since 1970 in UTC
  double seconds_left = 0;
};

Today today() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return {.day = static_cast<std::uint64_t>(seconds / kDay_s),
          .seconds_left = static_cast<double>(kDay_s - seconds % kDay_s)};
}

// Agents' reports are not trusted: an invalid curve counts as none.
GainPoints gain_of(const AgentReported& report) {
  GainPoints gain = {.ratios = {report.ratios.begin(), report.ratios.end()},
                     .gains = {report.gains.begin(), report.gains.end()}};
  return check(gain).ok() ? gain : GainPoints();
}

// The gains of THC's rates by spec; empty if the report has none or invalid ones.
std::map<std::string, double> rate_gains_of(const AgentReported& report) {
  constexpr std::size_t kRatesMax = 32;
  std::map<std::string, double> gains;
  if (report.rates.size() != report.rate_gains.size() || report.rates.size() > kRatesMax) return {};
  for (std::size_t i = 0; i < report.rates.size(); ++i) {
    const double gain = report.rate_gains[i];
    if (!(gain >= 0 && gain <= 1)) return {};
    gains[thc::spec_of_rate(static_cast<double>(report.rates[i]))] = gain;
  }
  return gains;
}

// Records a choice with its predicted times, so that an operator can read why another one was not
// taken.
wire::AlternativeT alternative_of(const PlanOption& option, bool pareto, bool chosen) {
  wire::AlternativeT alternative;
  alternative.codec = option.choice.codec;
  alternative.collective = option.choice.collective;
  alternative.ratio = option.choice.ratio;
  alternative.encode_s = option.cost.compress_s;
  alternative.wire_s = option.cost.exchange_s;
  alternative.round_s = option.cost.round_s;
  alternative.gain = option.cost.gain;
  alternative.pareto = pareto;
  alternative.chosen = chosen;
  return alternative;
}

// The chosen alternative comes first, the other ones of the Pareto front after it. The inputs are
// attached as text: a later process repeats the decision from them (resume()).
std::shared_ptr<const PlanAdvice> advice_of(const Planned& planned) {
  const PlanDecision& decision = planned.decision;
  auto advice = std::make_shared<PlanAdvice>();
  const PlanChoice& choice = decision.chosen.choice;
  advice->choice = {.codec = with_down_weight(choice.codec, decision.down_weight),
                    .collective = choice.collective,
                    .bucket_values_max = choice.bucket_values};
  for (std::size_t i = 0; i < decision.ratios.size(); ++i) {
    advice->ratios[planned.inputs.agents[i].name] = decision.ratios[i];
  }
  advice->trigger = decision.trigger;
  advice->sentence = decision.reason;
  advice->pause_s = decision.pause_s;
  advice->trials = decision.trials;
  advice->trial_s = decision.trial_s;
  advice->alternatives.push_back(alternative_of(decision.chosen, true, true));
  for (const PlanOption& option : decision.options) {
    if (option.choice == choice) continue;
    advice->alternatives.push_back(alternative_of(option, true, false));
  }
  const std::string inputs = text_of(planned.inputs);
  const ByteSpan bytes = bytes_of(std::string_view(inputs));
  advice->inputs.assign(bytes.begin(), bytes.end());
  return advice;
}

}  // namespace

// A round that waits for the planner. It holds copies, so that the planner's thread shares only
// `newest` with the state machine's.
struct PlanService::Thought {
  std::uint64_t job = 0;
  std::uint64_t values = 0;
  RoundFacts facts;
  PlanLinks links;
  PlanPolicy policy;
  std::uint64_t round = 0;
  std::shared_ptr<const std::atomic<std::uint64_t>> newest;
};

PlanService::PlanService(PlanServiceParts parts)
    : parts_(std::move(parts)),
      planners_(parts_.codecs, parts_.own_speeds, [this] { return !ending_; }) {}
// A measurement in progress ends early, so that the daemon stops quickly.
PlanService::~PlanService() { ending_ = true; }

void PlanService::prepare(std::uint32_t agents) {
  const Status posted = thread_.try_post([this, agents] {
    const Status status = planners_.measure_codecs(agents);
    if (status.ok()) return parts_.log.debug(kPlannerComponent, "codecs measured");
    if (ending_) return;
    parts_.log.warning(kPlannerComponent,
                       "the codecs could not be measured; the first plan measures them again",
                       {{"error", status.text()}});
  });
  // Not fatal: the job's first plan then measures them.
  if (!posted.ok()) log_full(posted);
}

void PlanService::log_full(const Status& posted) const {
  parts_.log.warning(kPlannerComponent, "the planner is behind", {{"error", posted.text()}});
}

void PlanService::resume(std::uint64_t job, PlanInputs inputs) {
  const Status posted = thread_.try_post([this, job, inputs = std::move(inputs)]() mutable {
    Planned planned = {.decision = {}, .inputs = std::move(inputs)};
    Result<PlanDecision> decision = decide(planned.inputs);
    // Nothing to resume if this release derives no decision from the same inputs.
    if (!decision.ok() || decision->trigger == wire::Trigger::unchanged) return;
    planned.decision = *std::move(decision);
    parts_.log.info(kPlannerComponent, "resumed the last decision: " + planned.decision.reason,
                    {{"job", job}});
    parts_.advise({.job = job, .advice = advice_of(planned)});
    planners_.resume(job, std::move(planned));
  });
  if (!posted.ok()) log_full(posted);
}

void PlanService::spent(std::uint64_t job, const PlanSpent& spent) {
  if (jobs_.size() >= kJobsMax) return;
  Job& to = jobs_[job];
  to.began = parts_.clock.now() - std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      std::chrono::duration<double>(spent.seconds));
  for (const auto& [agent, bytes] : spent.bytes) {
    if (to.agents.size() >= kAgentsMax) break;
    to.agents[agent].day = spent.day;
    to.agents[agent].bytes_today = bytes;
  }
}

void PlanService::reported(const AgentReported& report) {
  // At the bound all jobs are forgotten; their next reports make them known again.
  if (jobs_.size() >= kJobsMax && !jobs_.contains(report.job)) jobs_.clear();
  Job& job = jobs_[report.job];
  if (!job.began) job.began = parts_.clock.now();
  if (job.agents.size() >= kAgentsMax && !job.agents.contains(report.agent_id)) return;
  Reported& agent = job.agents[report.agent_id];
  agent.compute_s = report.compute_s;
  agent.waited_s = report.waited_s;
  agent.hidden_s = report.hidden_s;
  if (GainPoints gain = gain_of(report); gain.known()) agent.gain = std::move(gain);
  if (auto gains = rate_gains_of(report); !gains.empty()) agent.known_gains = std::move(gains);
  const std::uint64_t day = today().day;
  if (std::exchange(agent.day, day) != day) agent.bytes_today = 0;
  agent.bytes_today += report.bytes;
  for (const wire::TrialT& trial : report.trials) take_trial(report, trial, agent);
}

// Keeps only the newest trial of a codec until the next planned round.
void PlanService::take_trial(const AgentReported& report, const wire::TrialT& trial,
                             Reported& agent) {
  if (agent.tried.size() >= wire::kTrialsMax && !agent.tried.contains(trial.codec)) return;
  const auto values = static_cast<double>(std::max<std::uint64_t>(trial.values, 1));
  agent.tried[trial.codec] = trial.gain;
  // Only for codecs that read the optimizer's state, which no other measurement has. Others may
  // learn over rounds, and begin anew in a trial.
  const Result<std::unique_ptr<Codec>> codec = make_codec(trial.codec);
  if (codec.ok() && (*codec)->reads_optimizer()) {
    agent.tried_bytes[trial.codec] = static_cast<double>(trial.bytes) / values;
  }
  parts_.log.info(kPlannerComponent, "codec tried",
                  {{"job", report.job},
                   {"agent_id", report.agent_id},
                   {"round", trial.round},
                   {"codec", trial.codec},
                   {"gain", trial.gain},
                   {"bytes_per_value", static_cast<double>(trial.bytes) / values},
                   {"encode_ns_per_value", trial.encode_s * 1e9 / values},
                   {"values", trial.values},
                   {"seconds", trial.encode_s + trial.decode_s}});
}

void PlanService::reported(const SpeedsReported& speeds) {
  if (devices_.size() >= kAgentsMax && !devices_.contains(speeds.agent_id)) return;
  DeviceSpeeds& device = devices_[speeds.agent_id];
  device.clear();
  for (const wire::CodecOfferT& offer : speeds.codecs) {
    device[offer.spec] = {offer.encode_bytes_per_s, offer.decode_bytes_per_s};
  }
  parts_.log.debug(kPlannerComponent, "device measured",
                   {{"agent_id", speeds.agent_id}, {"codecs", device.size()}});
}

// The exchange time is what the slowest training leaves of the round, without the part of a
// training that was over when the round began. Trials are moved out, so that each is used by one
// plan only.
RoundFacts PlanService::facts_of(Job& job, const RoundPlayed& round) const {
  RoundFacts facts;
  facts.round = round.round;
  double trained_s = 0;
  for (const RoundPlayed::Participant& participant : round.participants) {
    RoundFacts::Agent agent = {.id = participant.agent_id, .weight = participant.weight};
    if (const auto known = job.agents.find(agent.id); known != job.agents.end()) {
      agent.compute_s = known->second.compute_s;
      agent.waited_s = std::exchange(known->second.waited_s, 0);
      agent.hidden_s = std::exchange(known->second.hidden_s, 0);
      trained_s = std::max(trained_s, agent.compute_s - agent.hidden_s);
      agent.gain = known->second.gain;
      agent.known_gains = known->second.known_gains;
      agent.tried = std::exchange(known->second.tried, {});
      agent.tried_bytes = std::exchange(known->second.tried_bytes, {});
    }
    if (const auto device = devices_.find(agent.id); device != devices_.end()) {
      agent.speeds = device->second;
    }
    facts.agents.push_back(std::move(agent));
  }
  facts.exchange_s = std::max(round.round_s - trained_s, 0.0);
  facts.codec = without_down_weight(round.choice.codec);
  facts.collective = round.choice.collective;
  facts.bucket_values = round.choice.bucket_values_max;
  // Among peers, the coordinator receives less than the agents send.
  if (facts.collective == wire::Collective::star && !round.participants.empty()) {
    facts.bytes_up =
        static_cast<double>(round.bytes_up) / static_cast<double>(round.participants.size());
  }
  return facts;
}

// The remaining budgets of the job at this moment. A byte budget holds for each agent's link, so
// the agent that used most of it today decides.
PlanPolicy PlanService::policy_of(const Job& job, const RoundPlayed& round) const {
  const Planning& planning = round.planning;
  PlanPolicy policy = {.gain_weight = planning.gain_weight,
                       .gain_min = planning.gain_min,
                       .rounds_left = round.rounds_left,
                       .exploring_share = planning.exploring_share,
                       .codecs = planning.codecs,
                       .collectives = planning.collectives};
  if (planning.planned()) policy.goal = planning.goal;
  if (planning.goal == wire::PlanGoal::time_budget) {
    const std::chrono::nanoseconds now = parts_.clock.now();
    policy.budget_s = planning.time_budget_s -
                      std::chrono::duration<double>(now - job.began.value_or(now)).count();
  }
  if (planning.goal == wire::PlanGoal::byte_budget) {
    const Today now = today();
    std::uint64_t most = 0;
    for (const auto& [id, agent] : job.agents) {
      if (agent.day == now.day) most = std::max(most, agent.bytes_today);
    }
    policy.bytes_left_today = planning.bytes_per_day - static_cast<double>(most);
    policy.seconds_left_today = now.seconds_left;
  }
  return policy;
}

void PlanService::played(const RoundPlayed& round) {
  if (round.rounds_left == 0) {
    jobs_.erase(round.job);
    return;
  }
  // The planner is this far behind: it never learns the facts of this round.
  if (waiting_ >= kWaitingMax) return;
  Job& job = jobs_[round.job];
  auto thought = std::make_shared<Thought>();
  thought->job = round.job;
  thought->values = round.values;
  thought->facts = facts_of(job, round);
  const std::vector<RoundFacts::Agent>& members = thought->facts.agents;
  const auto waits = std::ranges::count_if(
      members, [](const RoundFacts::Agent& agent) { return agent.waited_s > 0; });
  const auto ahead = std::ranges::count_if(
      members, [](const RoundFacts::Agent& agent) { return agent.hidden_s > 0; });
  parts_.log.debug(kPlannerComponent, "round timed",
                   {{"job", round.job},
                    {"round", round.round},
                    {"round_s", round.round_s},
                    {"exchange_s", thought->facts.exchange_s},
                    {"waits", waits},
                    {"ahead", ahead}});
  std::vector<std::string> agents;
  for (const RoundFacts::Agent& agent : thought->facts.agents) agents.push_back(agent.id);
  thought->links = parts_.links(agents);
  thought->links.peers_reachable = round.peers_reachable;
  thought->links.aggregator_present = round.aggregator_reachable;
  thought->policy = policy_of(job, round);
  thought->round = round.round;
  job.newest->store(round.round);
  thought->newest = job.newest;
  ++waiting_;
  const Status posted = thread_.try_post([this, thought] {
    think(*thought);
    --waiting_;
  });
  if (posted.ok()) return;
  --waiting_;
  log_full(posted);
}

// Without an aggregator the codec of its sums is a candidate only if the job names it: thc:rate=4
// is at least as good.
void PlanService::think(const Thought& thought) {
  const std::vector<std::string>& named = thought.policy.codecs;
  const bool in_network_codec =
      thought.links.aggregator_present || std::ranges::find(named, kInNetworkCodec) != named.end();
  const Result<Planner*> planner =
      planners_.planner_of({.id = thought.job,
                            .values = thought.values,
                            .agents = static_cast<std::uint32_t>(thought.facts.agents.size()),
                            .in_network_codec = in_network_codec});
  if (!planner.ok()) {
    if (ending_) return;
    return parts_.log.error(kPlannerComponent, "no codec could be measured",
                            {{"error", planner.status().text()}});
  }
  (*planner)->round_over(thought.facts);
  // A newer round waits already, so a plan made after this one would come too late.
  if (thought.round != *thought.newest) return;
  const Result<std::optional<Planned>> planned = (*planner)->think(thought.links, thought.policy);
  if (!planned.ok()) {
    return parts_.log.warning(kPlannerComponent, "no plan: " + planned.status().text(),
                              {{"job", thought.job}});
  }
  if (!planned->has_value()) return;
  parts_.log.info(kPlannerComponent, (*planned)->decision.reason, {{"job", thought.job}});
  parts_.advise({.job = thought.job, .advice = advice_of(**planned)});
}

}  // namespace tributary
