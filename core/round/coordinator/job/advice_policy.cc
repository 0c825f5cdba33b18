#include "core/round/coordinator/job/advice_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/update/buckets.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

// Limit for the alternatives in a plan, which is stored with every commit.
constexpr std::size_t kAlternativesMax = 32;

// The chosen alternative, followed by as many others as fit, in the planner's order.
std::vector<wire::AlternativeT> first_alternatives(const PlanAdvice& advice, std::size_t most) {
  std::vector<wire::AlternativeT> first;
  for (const wire::AlternativeT& alternative : advice.alternatives) {
    if (alternative.chosen) first.insert(first.begin(), alternative);
  }
  for (const wire::AlternativeT& each : advice.alternatives) {
    if (!each.chosen && first.size() < most) first.push_back(each);
  }
  return first;
}

Status check_advised_ratios(const PlanAdvice& advice, CodecCache& cache) {
  TRIBUTARY_ASSIGN(const std::shared_ptr<const Codec> codec, cache.get(advice.choice.codec));
  std::vector<double> ratios;
  for (const auto& [agent, ratio] : advice.ratios) ratios.push_back(ratio);
  return check_shares(*codec, advice.choice.collective, ratios);
}

Status bad_advice(std::string what, std::string expected) {
  return Status(StatusCode::invalid_argument, {.what = fmt::format("advice: {}", what),
                                               .expected = std::move(expected),
                                               .got = "another",
                                               .remedy = "correct the planner"});
}

// Agents refuse a plan with an incomplete reason, so its round would never begin.
Status check_reason(const PlanAdvice& advice) {
  const auto is_known = [](auto value, auto max) {
    return static_cast<int>(value) > 0 && value <= max;
  };
  if (!is_known(advice.trigger, wire::Trigger::MAX)) return bad_advice("trigger", "a known one");
  for (const wire::AlternativeT& alternative : advice.alternatives) {
    if (alternative.codec.empty()) return bad_advice("codec of an alternative", "a name");
    if (!is_known(alternative.collective, wire::Collective::MAX)) {
      return bad_advice("collective of an alternative", "a known one");
    }
    if (!(alternative.ratio >= 0 && alternative.ratio <= 1))
      return bad_advice("ratio of an alternative", "0 to 1");
  }
  return {};
}

}  // namespace

// A decision is checked completely before it replaces the previous one, since it comes from outside
// the state machine. A refused one leaves the job with its own policy.
void AdvicePolicy::advise(std::shared_ptr<const PlanAdvice> advice, std::uint64_t next_round) {
  const RoundPolicy& job = job_.policy();
  if (!advice || !job.planning.planned()) return;
  const RoundChoice& choice = advice->choice;
  auto planned = std::make_unique<RoundPolicy>(job);
  planned->codec = choice.codec;
  // The decision names one codec for all buckets.
  planned->codecs.clear();
  planned->collective = choice.collective;
  planned->bucket_values_max = std::clamp(choice.bucket_values_max, kBucketStep,
                                          std::max(job.bucket_values_max, kBucketStep));
  Status status = check(*planned);
  if (status.ok()) status = check_advised_ratios(*advice, job_.coordinator.cache);
  if (status.ok()) status = check_reason(*advice);
  if (!status.ok()) return refuse(status, next_round);
  planned_ = std::move(planned);
  advice_ = std::move(advice);
  reason_round_ = 0;
}

void AdvicePolicy::refuse(const Status& why, std::uint64_t next_round) {
  advice_.reset();
  planned_.reset();
  job_.coordinator.note(LogLevel::warning, "advice_refused", name(why.code()), {}, why.text(),
                        {.job = job_.id(), .round = next_round});
}

void AdvicePolicy::complete(PlanRequest& request, const Membership& membership) {
  // Without a decision the plan keeps the reason of the job's policy.
  if (advice_) {
    add_reason(request);
    add_ratios(request, membership);
  }
  fusion_.complete(request, membership);
  planned_choice_ = {.codec = policy().codec,
                     .collective = request.collective,
                     .bucket_values_max = policy().bucket_values_max};
}

// The first plan of a decision contains the complete reason; later ones refer to the round of that
// plan.
void AdvicePolicy::add_reason(PlanRequest& request) {
  const std::uint64_t round = request.key.round;
  if (reason_round_ == 0) reason_round_ = round;
  const bool whole = reason_round_ == round;
  const bool as_advised = request.collective == advice_->choice.collective;
  request.bucket_values = policy().bucket_values_max;
  request.alternatives = first_alternatives(*advice_, whole ? kAlternativesMax : 1);
  if (!as_advised) return;  // the request already has the reason
  request.reason = whole ? advice_->sentence : fmt::format("as decided in round {}", reason_round_);
  if (!whole) return;
  const std::size_t trials = std::min<std::size_t>(advice_->trials.size(), wire::kTrialsMax);
  request.trials.assign(advice_->trials.begin(),
                        advice_->trials.begin() + static_cast<std::ptrdiff_t>(trials));
  request.trial_s = std::clamp(advice_->trial_s, 0.0, wire::kTrialSecondsMax);
  if (request.key.attempt == 0) request.trigger = advice_->trigger;
  request.inputs = advice_->inputs;
}

// A member that the decision does not name keeps the codec's ratio.
void AdvicePolicy::add_ratios(PlanRequest& request, const Membership& membership) {
  if (advice_->ratios.empty()) return;
  const auto codec = job_.coordinator.cache.get(policy().codec);
  if (!codec.ok() || !(*codec)->own_share()) return;  // both were checked when the decision arrived
  for (const Membership::Member& member : membership.members()) {
    const auto own = advice_->ratios.find(member.agent_id);
    request.ratios.push_back(own == advice_->ratios.end() ? *(*codec)->own_share() : own->second);
  }
}

// An agent that trains ahead begins when it has all results of the round before, and waits for
// their commit from that moment.
double AdvicePolicy::hidden_s(const wire::Report& report) {
  const bool ahead = report.mechanisms() && report.mechanisms()->trained_ahead() > 0;
  return ahead ? std::min(report.compute_s(), report.wait_s()) : 0;
}

// The planner is outside the machine. It learns of reports and commits through actions and answers
// with an event, so planning never blocks a round.
void AdvicePolicy::report_agent(const AgentSession& session, const wire::Report& report) {
  fusion_.report(session.agent_id, report);
  if (!job_.policy().planning.planned()) return;
  AgentReported reported{.job = job_.id(),
                         .round = report.id()->round(),
                         .agent_id = session.agent_id,
                         .compute_s = report.compute_s(),
                         .waited_s = report.wait_s(),
                         .hidden_s = hidden_s(report),
                         .ratios = {},
                         .gains = {},
                         .bytes = report.bytes_up() + report.bytes_down(),
                         .trials = {}};
  if (report.trials()) {
    for (const wire::Trial* trial : *report.trials()) {
      trial->UnPackTo(&reported.trials.emplace_back());
    }
  }
  if (report.gain()) {
    reported.ratios.assign(report.gain()->ratios()->begin(), report.gain()->ratios()->end());
    reported.gains.assign(report.gain()->gains()->begin(), report.gain()->gains()->end());
  }
  if (report.rate_gain()) {
    reported.rates.assign(report.rate_gain()->ratios()->begin(),
                          report.rate_gain()->ratios()->end());
    reported.rate_gains.assign(report.rate_gain()->gains()->begin(),
                               report.rate_gain()->gains()->end());
  }
  job_.coordinator.out.emplace_back(std::move(reported));
}

void AdvicePolicy::report_commit(const RoundRecord& record, const ActiveRound& round,
                                 const Membership& membership, const Reachable& reachable) {
  fusion_.report_commit(round, membership);
  if (!job_.policy().planning.planned()) return;
  const double ns = static_cast<double>(job_.coordinator.now - record.began_at_ns);
  RoundPlayed played{.job = job_.id(),
                     .round = record.id.round,
                     .rounds_left = job_.model->wire().rounds() - record.id.round,
                     .values = job_.model->values(),
                     .planning = job_.policy().planning,
                     .choice = {.codec = planned_choice_.codec,
                                .collective = round.plan().collective(),
                                .bucket_values_max = planned_choice_.bucket_values_max},
                     .round_s = ns / 1e9,
                     .bytes_up = record.bytes_up,
                     .participants = {},
                     .peers_reachable = reachable.peers,
                     .aggregator_reachable = reachable.aggregator};
  for (std::uint32_t i = 0; i < membership.size(); ++i) {
    if (!round.members()[i].participates) continue;
    const Membership::Member& member = membership.members()[i];
    played.participants.push_back({.agent_id = member.agent_id, .weight = member.weight});
  }
  job_.coordinator.out.emplace_back(std::move(played));
}

}  // namespace tributary
