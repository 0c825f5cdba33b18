// Rounds as a planner advises: from the next one on, as long as nothing better is known. What is
// advised is carried out where it can be; the star stands in for peers as ever.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/round/job_run.h"
#include "core/update/buckets.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

constexpr std::size_t kAlternativesMax = 32;

// The chosen one, and of the others those that come first.
std::vector<wire::AlternativeT> told(const PlanAdvice& advice, std::size_t most) {
  std::vector<wire::AlternativeT> all;
  for (const wire::AlternativeT& one : advice.alternatives) {
    if (one.chosen) all.insert(all.begin(), one);
  }
  for (const wire::AlternativeT& one : advice.alternatives) {
    if (!one.chosen && all.size() < most) all.push_back(one);
  }
  return all;
}

Status check_advised_ratios(const PlanAdvice& advice, CodecShelf& shelf) {
  TRIBUTARY_ASSIGN(const std::shared_ptr<const Codec> codec, shelf.get(advice.choice.codec));
  std::vector<double> ratios;
  for (const auto& [agent, ratio] : advice.ratios) ratios.push_back(ratio);
  return check_shares(*codec, advice.choice.collective, ratios);
}

Status not_told(std::string what, std::string expected) {
  return Status(StatusCode::invalid_argument, {.what = fmt::format("advice: {}", what),
                                               .expected = std::move(expected),
                                               .got = "another",
                                               .remedy = "mend what plans"});
}

// What a plan says of why: agents refuse one that leaves it open, and its round would never begin.
Status check_told(const PlanAdvice& advice) {
  const auto is_known = [](auto value, auto max) {
    return static_cast<int>(value) > 0 && value <= max;
  };
  if (!is_known(advice.trigger, wire::Trigger::MAX)) return not_told("trigger", "a known one");
  for (const wire::AlternativeT& one : advice.alternatives) {
    if (one.codec.empty()) return not_told("codec of an alternative", "a name");
    if (!is_known(one.collective, wire::Collective::MAX)) {
      return not_told("collective of an alternative", "a known one");
    }
    if (!(one.ratio >= 0 && one.ratio <= 1)) return not_told("ratio of an alternative", "0 to 1");
  }
  return {};
}

}  // namespace

void JobRun::advise(std::shared_ptr<const PlanAdvice> advice) {
  const RoundPolicy& job = record_.policy;
  if (!advice || !job.planning.planned()) return;
  const RoundChoice& choice = advice->choice;
  auto planned = std::make_unique<RoundPolicy>(job);
  planned->codec = choice.codec;
  planned->codecs.clear();
  planned->collective = choice.collective;
  planned->bucket_values_max = std::clamp(choice.bucket_values_max, kBucketStep,
                                          std::max(job.bucket_values_max, kBucketStep));
  Status status = check(*planned);
  if (status.ok()) status = check_advised_ratios(*advice, desk_.shelf);
  if (status.ok()) status = check_told(*advice);
  if (!status.ok()) return refuse_advice(status);
  planned_ = std::move(planned);
  advice_ = std::move(advice);
  advice_round_ = 0;
}

// Rounds go on as the job has them.
void JobRun::refuse_advice(const Status& why) {
  advice_.reset();
  planned_.reset();
  desk_.note(LogLevel::warning, "advice_refused", name(why.code()), {}, why.text(),
             {.job = record_.job, .round = version_ + 1});
}

// Whether members are told of one another when an epoch begins: a planner may want it later.
bool JobRun::wants_peers() const {
  return record_.policy.collective != wire::Collective::star || record_.policy.planning.planned();
}

// The first round of an advice says all of it, those after it where that was.
void JobRun::plan_reason(PlanRequest& request) {
  if (!advice_) return;
  const std::uint64_t round = request.key.round;
  if (advice_round_ == 0) advice_round_ = round;
  const bool all = advice_round_ == round;
  const bool as_advised = request.collective == advice_->choice.collective;
  request.bucket_values = policy().bucket_values_max;
  request.alternatives = told(*advice_, all ? kAlternativesMax : 1);
  if (!as_advised) return;  // the reason is why not
  request.reason = all ? advice_->sentence : fmt::format("as decided in round {}", advice_round_);
  if (!all) return;
  request.trials.assign(advice_->trials.begin(),
                        advice_->trials.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                      advice_->trials.size(), wire::kTrialsMax)));
  request.trial_s = std::clamp(advice_->trial_s, 0.0, wire::kTrialSecondsMax);
  if (request.key.attempt == 0) request.trigger = advice_->trigger;
  request.inputs = advice_->inputs;
}

// Members of whom the advice does not know keep what the codec says.
void JobRun::plan_ratios(PlanRequest& request) {
  if (!advice_ || advice_->ratios.empty()) return;
  const auto codec = desk_.shelf.get(policy().codec);
  if (!codec.ok() || !(*codec)->own_share()) return;  // was checked when the advice came
  for (const EpochMember& member : members_) {
    const auto own = advice_->ratios.find(member.agent_id);
    request.ratios.push_back(own == advice_->ratios.end() ? *(*codec)->own_share() : own->second);
  }
}

void JobRun::tell_planner(const AgentSession& session, const wire::Report& report) {
  if (!record_.policy.planning.planned()) return;
  AgentReported told{.job = record_.job,
                     .round = report.id()->round(),
                     .agent_id = session.agent_id,
                     .compute_s = report.compute_s(),
                     .ratios = {},
                     .gains = {},
                     .bytes = report.bytes_up() + report.bytes_down(),
                     .trials = {}};
  if (report.trials()) {
    for (const wire::Trial* trial : *report.trials()) trial->UnPackTo(&told.trials.emplace_back());
  }
  if (report.gain()) {
    told.ratios.assign(report.gain()->ratios()->begin(), report.gain()->ratios()->end());
    told.gains.assign(report.gain()->gains()->begin(), report.gain()->gains()->end());
  }
  desk_.out.emplace_back(std::move(told));
}

// Of the round that was just committed, while it is still at hand.
void JobRun::tell_planner(const RoundRecord& record) {
  if (!record_.policy.planning.planned()) return;
  RoundPlayed played{.job = record_.job,
                     .round = record.id.round,
                     .rounds_left = job_->wire().rounds() - version_,
                     .values = job_->values(),
                     .planning = record_.policy.planning,
                     .choice = {.codec = policy().codec,
                                .collective = round_->plan().collective(),
                                .bucket_values_max = policy().bucket_values_max},
                     .round_s = static_cast<double>(desk_.now - record.began_at_ns) / 1e9,
                     .bytes_up = record.bytes_up,
                     .participants = {},
                     .peers_reachable = peers_.session != 0 && version_ + 1 >= peers_.from_round};
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (!round_->members()[i].participates) continue;
    played.participants.push_back({.agent_id = members_[i].agent_id, .weight = members_[i].weight});
  }
  desk_.out.emplace_back(std::move(played));
}

}  // namespace tributary
