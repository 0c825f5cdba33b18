#include "core/sim/checks/round_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/round/common/plan/round_steps.h"

namespace tributary {
namespace {

Status broken_ledger(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::mismatch, {.what = std::move(what),
                                       .expected = std::move(expected),
                                       .got = std::move(got),
                                       .remedy = {}});
}

const RedoPayload* find_redo(const CommitRecord& record, std::uint32_t bucket,
                             std::uint32_t stage) {
  for (const RedoPayload& redo : record.redo) {
    if (redo.bucket == bucket && redo.stage == stage) return &redo;
  }
  return nullptr;
}

// Adds up values whose sum must be zero for each value, except for rounding.
class Balance {
 public:
  explicit Balance(std::size_t values) : sum_(values), moved_(values) {}

  void count(std::span<const float> values, double sign) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum_[i] += sign * static_cast<double>(values[i]);
      moved_[i] += std::abs(static_cast<double>(values[i]));
    }
  }
  // Counts the change of the aggregator's residual during the round.
  void count_kept(const PlannedBucket& bucket, const FloatVector& before,
                  const SharedFloats& after) {
    if (!after) return;
    const auto part_of = [&](const FloatVector& whole) {
      return whole.empty()
                 ? std::span<const float>()
                 : std::span<const float>(whole).subspan(bucket.first_value, bucket.values);
    };
    count(part_of(before), 1);
    count(part_of(*after), -1);
  }
  // Checks the sum against `share` of the largest magnitude in any value. `moved_besides` is an
  // upper bound on the magnitude that went into one value before it was counted.
  Status check(const PlannedBucket& bucket, double share, double moved_besides = 0) const {
    double scale = moved_besides;
    for (const double each : moved_) scale = std::max(scale, each);
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      if (std::abs(sum_[i]) <= share * scale) continue;
      return broken_ledger(
          fmt::format("bucket {}, value {}: contributions less the result", bucket.index, i),
          fmt::format("0 within {:.3g}", share * scale), fmt::format("{:.6g}", sum_[i]));
    }
    return {};
  }

 private:
  std::vector<double> sum_;
  std::vector<double> moved_;
};

}  // namespace

Status RoundReplay::begin(std::shared_ptr<const JobModel> job, FloatVector model) {
  TRIBUTARY_ASSIGN(rule_, make_model_rule(job->wire()));
  job_ = std::move(job);
  model_ = std::move(model);
  return {};
}

std::uint64_t RoundReplay::model_hash() const { return hash64(bytes_of<float>(model_)); }

RoundReplay::Mark RoundReplay::mark() const {
  return {
      .model = model_, .aggregator_residual = aggregator_residual_, .rule_state = rule_->save()};
}

Status RoundReplay::go_back(const Mark& mark) {
  model_ = mark.model;
  aggregator_residual_ = mark.aggregator_residual;
  return rule_->restore(*mark.rule_state);
}

// An empty residual is zeros.
Result<std::uint64_t> RoundReplay::take_residual(const SharedFloats& residual) {
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < aggregator_residual_.size(); ++i) {
    const float found = residual ? (*residual)[i] : 0;
    if (found == aggregator_residual_[i]) continue;
    if (found != 0) {
      return broken_ledger(fmt::format("residual of the sums, value {}", i),
                           fmt::format("{}, or 0", aggregator_residual_[i]),
                           fmt::format("{}", found));
    }
    aggregator_residual_[i] = 0;
    ++lost;
  }
  return lost;
}

// A lossy codec needs both: its sent and kept parts must add up to the update, and its error must
// be smaller than its input.
bool RoundReplay::can_keep_accounts(const RoundPolicy& policy) {
  std::vector<std::string> specs = policy.codecs;
  if (specs.empty()) specs = {policy.codec};
  return std::ranges::all_of(specs, [&](const std::string& spec) {
    const auto codec = cache_.get(spec);
    return codec.ok() && (!(*codec)->lossy() || (*codec)->keeps_error());
  });
}

// Recomputes the model's step and the contributions from the stored records and the sent messages.
Status RoundReplay::play(const CommitRecord& record, const EpochRecord& epoch,
                         const AccountOf& account_of) {
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*record.round.plan));
  const wire::Plan* const wire_plan = frame->message_as_Plan();
  if (wire_plan == nullptr) return broken_ledger("stored plan", "a Plan", "another message");
  wire::PlanT plan_message;
  wire_plan->UnPackTo(&plan_message);
  TRIBUTARY_ASSIGN(const auto plan, RoundPlan::make(plan_message, *job_, cache_));
  ++collectives_[wire::EnumNameCollective(plan->collective())];
  std::vector<CommittedBucket> buckets;
  for (const OutcomeRecord& outcome : record.round.outcomes) {
    const ContributorSetRecord& set = record.round.contributor_sets[outcome.contributor_set];
    CommittedBucket committed{.bucket = outcome.bucket,
                              .divisor = set.divisor,
                              .contributors = set.contributors,
                              .combined = {}};
    const PlannedBucket& bucket = plan->buckets()[outcome.bucket];
    for (std::uint32_t stage = 0; stage < bucket.stages(); ++stage) {
      const RedoPayload* const redo = find_redo(record, outcome.bucket, stage);
      if (redo == nullptr) return broken_ledger("stored payloads", "one of every stage", "fewer");
      committed.combined.emplace_back(*redo->payload);
    }
    TRIBUTARY_TRY(plan->by_members()
                      ? play_bucket_by_peers(record, *plan, outcome, committed, epoch, account_of)
                      : play_bucket(record, *plan, outcome, committed, epoch, account_of));
    buckets.push_back(std::move(committed));
  }
  if (record.aggregator_residual) aggregator_residual_ = *record.aggregator_residual;
  return apply_round(*plan, buckets, {}, *rule_, sum_, model_);
}

// Decodes the payload of each contributor, enters it into the accounts, and compares the sum with
// the result: the values that were added must be the values that were sent.
Status RoundReplay::play_bucket(const CommitRecord& record, const RoundPlan& plan,
                                const OutcomeRecord& outcome, const CommittedBucket& committed,
                                const EpochRecord& epoch, const AccountOf& account_of) {
  const PlannedBucket& bucket = plan.buckets()[outcome.bucket];
  const RoundKey& key = record.round.id;
  const Bitmap contributors(record.round.contributor_sets[outcome.contributor_set].bits,
                            record.round.members);
  Balance balance(bucket.values);
  for (std::uint32_t member = 0; member < record.round.members; ++member) {
    if (!contributors.test(member)) continue;
    const std::string& agent_id = epoch.members[member].agent_id;
    Account* const account = account_of(agent_id);
    const auto rank = plan.rank(member);
    if (!account || !rank) return broken_ledger("contributor", "a participant", "another");
    const ByteSpan payload = account->payload(key, outcome.bucket);
    if (payload.empty()) {
      return broken_ledger(fmt::format("{}, bucket {}", agent_id, outcome.bucket),
                           "a payload that was sent whole", "none");
    }
    const StageCall call = {.round = plan.context(bucket, *rank),
                            .combined = std::span(committed.combined).first(bucket.last_stage())};
    FloatVector decoded(bucket.values);
    TRIBUTARY_TRY(decode_contribution(bucket, call, payload, decoded));
    balance.count(decoded, 1);
    TRIBUTARY_TRY(account->committed(key, bucket.first_value, std::move(decoded)));
  }
  if (bucket.codec->lossy() && !bucket.keeps_error()) return {};
  FloatVector result;
  TRIBUTARY_TRY(decode_bucket(plan, committed, {}, result));
  balance.count_kept(bucket, aggregator_residual_, record.aggregator_residual);
  balance.count(result, -1);
  // The tolerance allows one rounding for each contributor and one for the result.
  return balance.check(bucket, static_cast<double>(committed.contributors + 1) * 0x1p-23);
}

// Nothing has recorded the messages among peers. But every member stored the residual that it would
// keep before any of them could have a result. The values that the members gave away by that must
// add up to the result.
Status RoundReplay::play_bucket_by_peers(const CommitRecord& record, const RoundPlan& plan,
                                         const OutcomeRecord& outcome,
                                         const CommittedBucket& committed, const EpochRecord& epoch,
                                         const AccountOf& account_of) {
  const PlannedBucket& bucket = plan.buckets()[outcome.bucket];
  const RoundKey& key = record.round.id;
  const Bitmap contributors(record.round.contributor_sets[outcome.contributor_set].bits,
                            record.round.members);
  // A result of peers contains all participants, because an exchange ends when a member is lost.
  if (contributors != plan.participants()) {
    return broken_ledger("contributors to a result of peers", "all of them",
                         fmt::format("{} of {}", contributors.count(), plan.agents()));
  }
  if (!bucket.keeps_residual()) return {};
  FloatVector result;
  TRIBUTARY_TRY(decode_bucket(plan, committed, {}, result));
  // If a round has several exchanges, one record contains the contributions to all of them.
  FloatVector& given_before = exchanged_[bucket.place];
  if (bucket.exchange == 0) given_before.assign(bucket.values, 0.0f);
  for (std::size_t i = 0; i < result.size(); ++i) given_before[i] += result[i];
  if (bucket.exchange + 1 < plan.exchanges()) return {};
  Balance balance(bucket.values);
  double moved = 0;
  for (std::uint32_t member = 0; member < record.round.members; ++member) {
    if (!contributors.test(member)) continue;
    const std::string& agent_id = epoch.members[member].agent_id;
    Account* const account = account_of(agent_id);
    if (!account) return broken_ledger("contributor", "an agent", "another");
    const Account::Given* const given = account->given(key, outcome.bucket);
    if (given == nullptr) {
      return broken_ledger(fmt::format("{}, bucket {}", agent_id, outcome.bucket),
                           "a record of what it gives away, stored before it says so", "none");
    }
    balance.count(given->values, 1);
    moved += given->magnitude_max;
    TRIBUTARY_TRY(account->committed(key, bucket.first_value, given->values));
  }
  // A member whose codec keeps no error gives its whole update away, and the result is only correct
  // on average.
  if (bucket.codec->lossy() && !bucket.keeps_error()) return {};
  balance.count_kept(bucket, aggregator_residual_, record.aggregator_residual);
  balance.count(given_before, -1);
  const double share = static_cast<double>(committed.contributors + 1) * 0x1p-23;
  return balance.check(bucket, bucket.codec->lossy() ? share : 0, moved);
}

}  // namespace tributary
