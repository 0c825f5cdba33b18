#include "core/sim/checks/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/bytes/checksum.h"

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

// What must come to nothing, value by value, but for rounding.
class Balance {
 public:
  explicit Balance(std::size_t values) : sum_(values), moved_(values) {}

  void count(std::span<const float> values, double sign) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum_[i] += sign * static_cast<double>(values[i]);
      moved_[i] += std::abs(static_cast<double>(values[i]));
    }
  }
  // What an aggregator keeps to itself changes with the round.
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
  // `moved_besides` went into what was counted, at most in any value.
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

Ledger::Ledger(std::uint32_t agents, std::uint64_t values, Watch& watch) : watch_(watch) {
  for (std::uint32_t i = 0; i < agents; ++i) {
    accounts_.emplace_back(values);
    agents_.emplace(agent_name(i), i);
  }
  seen_.resize(agents);
}

std::string Ledger::agent_name(std::uint32_t agent) { return fmt::format("agent-{}", agent); }

void Ledger::complain(TimeNs now, const char* invariant, const Status& status,
                      const std::string& who) {
  if (!status.ok()) watch_.report(now, invariant, fmt::format("{}: {}", who, status.text()));
}

// --- the coordinator's journal -------------------------------------------------------------------

void Ledger::job_stored(const NewJobRecord& record, TimeNs now) {
  if (job_) {
    watch_.report(now, "journal", "the job was submitted and stored twice");
    return;
  }
  auto job = JobModel::make(record.job.definition);
  auto rule = job.ok() ? make_model_rule((*job)->wire()) : job.status();
  if (!rule.ok()) return complain(now, "journal", rule.status(), "the job's definition");
  job_ = *job;
  accounted_ = keep_accounts(record.job.policy);
  by_peers_ = record.job.policy.collective != wire::Collective::star;
  rule_ = std::move(*rule);
  model_ = *record.checkpoint.model;
  hashes_ = {hash64(bytes_of<float>(model_))};
}

// There is no account of what a codec changes on purpose, or is right about on average only.
bool Ledger::keep_accounts(const RoundPolicy& policy) {
  std::vector<std::string> specs = policy.codecs;
  if (specs.empty()) specs = {policy.codec};
  return std::ranges::all_of(specs, [&](const std::string& spec) {
    const auto codec = cache_.get(spec);
    return codec.ok() && (!(*codec)->lossy() || ((*codec)->conserves() && (*codec)->contracts()));
  });
}

void Ledger::epoch_stored(const EpochRecord& record) { epochs_[record.epoch] = record; }

void Ledger::commit_stored(const CommitRecord& record, TimeNs now) {
  if (doubtful_ && doubtful_->round.id == record.round.id) doubtful_.reset();
  accept(record, now);
}

void Ledger::commit_in_doubt(const CommitRecord& record) { doubtful_ = record; }

void Ledger::accept(const CommitRecord& record, TimeNs now) {
  const RoundKey& key = record.round.id;
  const std::string who = "coordinator, " + text(key);
  if (!job_ || key.job != job_->job()) return watch_.report(now, "commits", who + ": no such job");
  if (key.round != hashes_.size()) {
    const bool again = key.round < hashes_.size();
    watch_.report(now, "commits",
                  fmt::format("{}: stored {}, round {} is the last one", who,
                              again ? "for a second time" : "out of order", rounds_committed()));
    return;
  }
  complain(now, "commits", play(record), who);
  const std::uint64_t hash = hash64(bytes_of<float>(model_));
  if (hash != record.round.model_hash) {
    watch_.report(
        now, "replicas",
        fmt::format("{}: its record says the model is {:016x}; played again it is {:016x}", who,
                    record.round.model_hash, hash));
  }
  hashes_.push_back(record.round.model_hash);
  rounds_.push_back(key);
  for (Account& account : accounts_) {
    account.round_is_decided(key);
    if (!accounted_) account.forget(key);
  }
}

// Does the round again from what was stored and sent: the model's step, and who gave what to it.
Status Ledger::play(const CommitRecord& record) {
  const auto epoch = epochs_.find(record.round.id.epoch);
  if (epoch == epochs_.end()) return broken_ledger("epoch", "one that is stored", "none");
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
    TRIBUTARY_TRY(plan->by_peers()
                      ? play_bucket_by_peers(record, *plan, outcome, committed, epoch->second)
                      : play_bucket(record, *plan, outcome, committed, epoch->second));
    buckets.push_back(std::move(committed));
  }
  if (record.aggregator_residual) aggregator_residual_ = *record.aggregator_residual;
  return apply_round(*plan, buckets, {}, *rule_, sum_, model_);
}

// Decodes what each contributor sent, writes it into the accounts, and compares the sum with the
// result: what has arrived and been added must be what was sent.
Status Ledger::play_bucket(const CommitRecord& record, const RoundPlan& plan,
                           const OutcomeRecord& outcome, const CommittedBucket& committed,
                           const EpochRecord& epoch) {
  const PlannedBucket& bucket = plan.buckets()[outcome.bucket];
  const RoundKey& key = record.round.id;
  const Bitmap contributors(record.round.contributor_sets[outcome.contributor_set].bits,
                            record.round.members);
  Balance balance(bucket.values);
  for (std::uint32_t member = 0; member < record.round.members; ++member) {
    if (!contributors.test(member)) continue;
    const auto agent = agents_.find(epoch.members[member].agent_id);
    const auto rank = plan.rank(member);
    if (agent == agents_.end() || !rank)
      return broken_ledger("contributor", "a participant", "another");
    const ByteSpan payload = accounts_[agent->second].payload(key, outcome.bucket);
    if (payload.empty()) {
      return broken_ledger(fmt::format("{}, bucket {}", agent->first, outcome.bucket),
                           "a payload that was sent whole", "none");
    }
    const StageCall call = {.round = plan.context(bucket, *rank),
                            .combined = std::span(committed.combined).first(bucket.last_stage())};
    FloatVector decoded(bucket.values);
    TRIBUTARY_TRY(bucket.codec->decode(call, payload, decoded));
    balance.count(decoded, 1);
    TRIBUTARY_TRY(accounts_[agent->second].committed(key, bucket.first_value, std::move(decoded)));
  }
  if (bucket.codec->lossy() && !bucket.keeps_error()) return {};
  const StageCall call = {.round = plan.context(bucket),
                          .combined = std::span(committed.combined).first(bucket.last_stage()),
                          .contributors = committed.contributors};
  FloatVector result(bucket.values);
  TRIBUTARY_TRY(bucket.codec->decode(call, committed.combined.back(), result));
  balance.count_kept(bucket, aggregator_residual_, record.aggregator_residual);
  balance.count(result, -1);
  return balance.check(bucket, static_cast<double>(committed.contributors + 1) * 0x1p-23);
}

// What went between peers nobody has seen. But all of them stored what they would leave behind
// before any of them could have a result: what they give away by that must be what it came to.
Status Ledger::play_bucket_by_peers(const CommitRecord& record, const RoundPlan& plan,
                                    const OutcomeRecord& outcome, const CommittedBucket& committed,
                                    const EpochRecord& epoch) {
  const PlannedBucket& bucket = plan.buckets()[outcome.bucket];
  const RoundKey& key = record.round.id;
  const Bitmap contributors(record.round.contributor_sets[outcome.contributor_set].bits,
                            record.round.members);
  if (contributors != plan.participants()) {
    return broken_ledger("contributors to a result of peers", "all of them",
                         fmt::format("{} of {}", contributors.count(), plan.agents()));
  }
  if (!bucket.keeps_residual()) return {};
  FloatVector result;
  TRIBUTARY_TRY(decode_bucket(plan, committed, {}, result));
  // Of several exchanges, one record tells what was given in all of them.
  FloatVector& given_before = exchanged_[bucket.place];
  if (bucket.exchange == 0) given_before.assign(bucket.values, 0.0f);
  for (std::size_t i = 0; i < result.size(); ++i) given_before[i] += result[i];
  if (bucket.exchange + 1 < plan.exchanges()) return {};
  Balance balance(bucket.values);
  double moved = 0;
  for (std::uint32_t member = 0; member < record.round.members; ++member) {
    if (!contributors.test(member)) continue;
    const auto agent = agents_.find(epoch.members[member].agent_id);
    if (agent == agents_.end()) return broken_ledger("contributor", "an agent", "another");
    Account& account = accounts_[agent->second];
    const Account::Given* const given = account.given(key, outcome.bucket);
    if (given == nullptr) {
      return broken_ledger(fmt::format("{}, bucket {}", agent->first, outcome.bucket),
                           "a record of what it gives away, stored before it says so", "none");
    }
    balance.count(given->values, 1);
    moved += given->magnitude_max;
    TRIBUTARY_TRY(account.committed(key, bucket.first_value, given->values));
  }
  // Who keeps no error gives the whole away, and what comes of it is right on average only.
  if (bucket.codec->lossy() && !bucket.keeps_error()) return {};
  balance.count_kept(bucket, aggregator_residual_, record.aggregator_residual);
  balance.count(given_before, -1);
  const double share = static_cast<double>(committed.contributors + 1) * 0x1p-23;
  return balance.check(bucket, bucket.codec->lossy() ? share : 0, moved);
}

void Ledger::restored(const CoordinatorState& state, TimeNs now) {
  if (state.jobs.empty()) {
    if (job_) watch_.report(now, "journal", "the coordinator's journal has lost the job");
    return;
  }
  const RestoredJob& job = state.jobs.front();
  if (!job_) job_stored({job.job, job.checkpoint}, now);
  for (const EpochRecord& epoch : job.epochs) epochs_[epoch.epoch] = epoch;
  const std::uint64_t version =
      job.redo.empty() ? job.checkpoint.model_version : job.redo.back().round.id.round;
  if (doubtful_ && version == rounds_committed() + 1 &&
      (job.redo.empty() ? version == doubtful_->round.id.round
                        : job.redo.back().round.id == doubtful_->round.id)) {
    accept(*doubtful_, now);
  }
  doubtful_.reset();
  if (version != rounds_committed()) {
    watch_.report(now, "commits",
                  fmt::format("round {} was committed and acknowledged by the disk; after a "
                              "restart the journal ends with round {}",
                              rounds_committed(), version));
  }
  for (const CommitRecord& redo : job.redo) {
    const std::uint64_t round = redo.round.id.round;
    if (round > rounds_.size() || rounds_[round - 1] == redo.round.id) continue;
    watch_.report(now, "commits",
                  fmt::format("{} was committed; the journal has {}", text(rounds_[round - 1]),
                              text(redo.round.id)));
  }
}

void Ledger::published(const wire::Commit& commit, TimeNs now) {
  const RoundKey key = key_of(*commit.id());
  if (key.round < hashes_.size() && rounds_[key.round - 1] == key &&
      hashes_[key.round] == commit.model_hash()) {
    return;
  }
  watch_.report(now, "commits", text(key) + ": published, and not in the journal");
}

// --- replicas ------------------------------------------------------------------------------------

void Ledger::check_replica(const std::string& who, std::uint64_t version, std::uint64_t hash,
                           const SharedFloats& model, TimeNs now) {
  if (version >= hashes_.size()) {
    watch_.report(now, "commits",
                  fmt::format("{} has applied round {}, and round {} is the last that is committed",
                              who, version, rounds_committed()));
    return;
  }
  const std::uint64_t real = hash64(bytes_of<float>(*model));
  if (hash == hashes_[version] && real == hash) return;
  watch_.report(
      now, "replicas",
      fmt::format("{}: model of round {} is {:016x}, it says {:016x}; committed is {:016x}", who,
                  version, real, hash, hashes_[version]));
}

void Ledger::coordinator_seen(const Coordinator& machine, TimeNs now) {
  const SharedFloats model = machine.model();
  if (model)
    check_replica("coordinator", machine.model_version(), machine.model_hash(), model, now);
}

void Ledger::update_sent(std::uint32_t agent, const wire::Update& update,
                         const PayloadSlice& payload, TimeNs now) {
  const wire::Part& part = *update.part();
  complain(now, "conservation", accounts_[agent].sent(key_of(*part.id()), part, payload),
           agent_name(agent));
}

void Ledger::agent_stored(std::uint32_t agent, const AgentRecordToStore& record) {
  if (const auto* const replica = std::get_if<ReplicaRecord>(&record)) {
    accounts_[agent].stored(replica->residual_stamp.updates_taken);
  } else if (const auto* const contribution = std::get_if<ContributionRecord>(&record);
             contribution != nullptr && contribution->residual) {
    accounts_[agent].stored(contribution->residual_stamp.updates_taken);
    if (!by_peers_) return;
    for (const ContributionPart& part : contribution->parts) {
      accounts_[agent].gave(contribution->id, part.bucket, given_away(*contribution, part));
    }
  }
}

std::optional<std::uint32_t> Ledger::place(std::uint32_t agent, ByteSpan frame) const {
  const Result<const wire::Frame*> opened = open_frame(frame);
  const wire::Commit* const commit = opened.ok() ? (*opened)->message_as_Commit() : nullptr;
  if (commit == nullptr) return std::nullopt;
  const auto epoch = epochs_.find(commit->id()->epoch());
  if (epoch == epochs_.end()) return std::nullopt;
  const auto& members = epoch->second.members;
  const auto found = std::ranges::find(members, agent_name(agent), &MemberRecord::agent_id);
  if (found == members.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - members.begin());
}

void Ledger::agent_seen(std::uint32_t agent, const Agent& machine, bool restarted, TimeNs now) {
  if (machine.job() == 0 || machine.job() != job()) return;
  Seen& seen = seen_[agent];
  const SharedFloats model = machine.model();
  const std::uint64_t version = machine.model_version();
  const std::uint64_t taken = machine.updates_taken();
  if (!restarted && seen.version == version && seen.taken == taken) return;
  const std::string who = agent_name(agent);
  if (model && (restarted || seen.version != version)) {
    check_replica(who, version, machine.model_hash(), model, now);
  }
  seen.version = version;
  seen.taken = taken;
  if (!accounted_) return;
  Account& account = accounts_[agent];
  if (Status status = account.take(taken, restarted); !status.ok()) {
    return complain(now, "conservation", status, who);
  }
  const SharedFloats residual = machine.residual();
  complain(now, "conservation",
           account.check(residual ? residual->data() : nullptr, machine.undecided()), who);
}

double Ledger::conservation_error_max() const {
  double worst = 0;
  for (const Account& account : accounts_) worst = std::max(worst, account.error_max());
  return worst;
}

}  // namespace tributary
