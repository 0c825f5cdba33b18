#include "edge_agent/auditor.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "core/base/overloaded.h"
#include "core/round/common/plan/residual_account.h"
#include "core/round/common/plan/standalone_payload.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

// A payload does not show what the agent gives away if it is a sum of several agents' updates, or
// if its codec keeps no error: the whole input is then given, and the result is correct only on
// average.
bool shown_by_record(const RoundPlan& plan, const PlannedBucket& bucket) {
  return plan.by_members() || (bucket.codec->lossy() && !bucket.keeps_error());
}

}  // namespace

void Auditor::note(Status status) {
  if (status_.ok() && !status.ok()) status_ = std::move(status);
}

std::optional<double> Auditor::error_max() const {
  if (!account_ || decided_ == 0) return std::nullopt;
  return account_->error_max();
}

void Auditor::before(const Event& event) {
  std::visit(
      Overloaded{
          [this](const FrameReceived& received) { note(take_frame(received)); },
          [this](const UpdatePart& part) { offer(part.token, part.update, part.first_value); },
          [this](const UpdateReady& ready) { offer(ready.token, bounded(ready.update), 0); },
          // These events contain no model, plan or update.
          Ignored<PeerConnected, PeerDisconnected, PeerAlive, Tick, Stored, UpdateFailed,
                  BackgroundDone, PeerFrameReceived, PeerLost, NetworkSummed, ReportLinks,
                  ReportSpeeds, ProbeLink, Shutdown>(),
          // Only coordinators receive these events.
          Ignored<RoundLoaded, SubmitJob, ChangeJob, PlanAdvised>(),
          // Only aggregators receive this event.
          Ignored<EpochDecided>(),
      },
      event);
}

void Auditor::after(const Actions& actions, const Agent& machine) {
  for (const Action& action : actions) note(take_action(action));
  note(compare(machine));
  missing_ = training_ ? machine.missing_of_update(training_->second.round) : 0;
}

Status Auditor::take_frame(const FrameReceived& received) {
  const Result<const wire::Frame*> opened = open_frame(received.frame);
  if (!opened.ok()) return {};  // the state machine refuses it as well
  const wire::Frame& frame = **opened;
  if (const auto* job = frame.message_as_Job()) return take_job(*job);
  if (const auto* plan = frame.message_as_Plan()) return take_plan(*plan);
  if (const auto* commit = frame.message_as_Commit()) return take_commit(*commit);
  if (const auto* aggregate = frame.message_as_Aggregate()) {
    take_aggregate(*aggregate, received.payload);
  } else if (const auto* membership = frame.message_as_Membership();
             membership && job_ && membership->job() == job_->job()) {
    members_[membership->epoch()] = membership->agent_index();
    if (members_.size() > kRoundsMax) members_.erase(members_.begin());
  } else if (const auto* offered = frame.message_as_TransferOffer();
             offered && offered->settled()) {
    for (const wire::Settlement* settled : *offered->settled()) {
      std::vector<std::uint8_t> bits;
      if (settled->committed() && settled->contributed_bits()) {
        bits.assign(settled->contributed_bits()->begin(), settled->contributed_bits()->end());
      }
      TRIBUTARY_TRY(decide(key_of(*settled->id()), Bitmap(std::move(bits), settled->buckets())));
    }
  }
  return {};
}

Status Auditor::take_job(const wire::Job& job) {
  if (job_ && job_->job() == job.job()) return {};
  wire::JobT definition;
  job.UnPackTo(&definition);
  TRIBUTARY_ASSIGN(SharedBytes kept, keep_message(std::move(definition)));
  TRIBUTARY_ASSIGN(job_, JobModel::make(std::move(kept)));
  account_.emplace(job_->values());
  rounds_.clear();
  ahead_.reset();
  members_.clear();  // every job counts its epochs from 1
  decided_ = 0;
  unit_ = 0;
  seen_version_ = seen_taken_ = UINT64_MAX;
  return {};
}

Status Auditor::take_plan(const wire::Plan& plan) {
  if (!account_ || plan.id()->job() != job_->job()) return {};
  const RoundKey key = key_of(*plan.id());
  if (rounds_.contains(key)) return {};
  wire::PlanT unpacked;
  plan.UnPackTo(&unpacked);
  TRIBUTARY_ASSIGN(auto made, RoundPlan::make(unpacked, *job_, cache_));
  if (!made->conserves()) {  // conservation does not hold for such a codec
    account_.reset();
    return {};
  }
  rounds_[key] = {.plan = std::move(made),
                  .weight = static_cast<float>(plan.weight()),
                  .combined = {},
                  .decided = false};
  if (rounds_.size() > kRoundsMax) rounds_.erase(rounds_.begin());
  if (ahead_ && ahead_->round == key.round) {
    offer_weighted(ahead_->update, ahead_->missing, rounds_[key].weight);
    ahead_.reset();
  }
  return {};
}

// Collects the combined payloads of all stages but the last; decoding a later stage needs them.
void Auditor::take_aggregate(const wire::Aggregate& aggregate, ByteSpan payload) {
  const wire::Part& part = *aggregate.part();
  const auto round = rounds_.find(key_of(*part.id()));
  if (!account_ || round == rounds_.end()) return;
  const auto& buckets = round->second.plan->buckets();
  if (part.bucket() >= buckets.size()) return;
  const PlannedBucket& bucket = buckets[part.bucket()];
  const std::uint64_t bytes = part.stage_bytes();
  if (part.stage() >= bucket.last_stage() ||
      bytes > bucket.stage_bytes_max(round->second.plan->agents())) {
    return;
  }
  auto& whole =
      round->second.combined.try_emplace({part.bucket(), part.stage()}, bytes).first->second;
  if (check_size(part, whole.size()).ok()) whole.take(part.offset(), payload);
}

Status Auditor::take_commit(const wire::Commit& commit) {
  const RoundKey last = key_of(*commit.id());
  const auto member = members_.find(last.epoch);
  if (!account_ || last.job != job_->job() || member == members_.end()) return {};
  for (const wire::RoundOutcome* outcome : *commit.rounds()) {
    RoundKey key = last;
    key.round = outcome->round();
    key.attempt = outcome->attempt();
    const auto round = rounds_.find(key);
    if (round == rounds_.end()) continue;
    Bitmap contributed(round->second.plan->buckets().size());
    for (std::uint32_t i = 0; outcome->outcomes() && i < outcome->outcomes()->size(); ++i) {
      const wire::Outcome& bucket = *outcome->outcomes()->Get(i);
      const wire::ContributorSet& set = *outcome->contributor_sets()->Get(bucket.contributor_set());
      const std::vector<std::uint8_t> bits(set.bits()->begin(), set.bits()->end());
      if (Bitmap(bits, commit.agents()).test(member->second)) contributed.set(bucket.bucket());
    }
    TRIBUTARY_TRY(decide(key, contributed));
  }
  return {};
}

Status Auditor::decide(const RoundKey& key, const Bitmap& contributed) {
  const auto found = rounds_.find(key);
  if (!account_ || found == rounds_.end() || std::exchange(found->second.decided, true)) return {};
  for (const PlannedBucket& bucket : found->second.plan->buckets()) {
    // With several exchanges, the record of the last one covers all of them.
    const bool last = bucket.exchange + 1 == found->second.plan->exchanges();
    if (!contributed.test(bucket.index) || !last) continue;
    TRIBUTARY_TRY(shown_by_record(*found->second.plan, bucket)
                      ? commit_recorded_bucket(key, bucket)
                      : commit_bucket(found->second, bucket));
  }
  account_->round_is_decided(key);
  ++decided_;
  return {};
}

Status Auditor::commit_bucket(const AuditedRound& round, const PlannedBucket& bucket) {
  const RoundKey& key = round.plan->key();
  const ByteSpan payload = account_->payload(key, bucket.index);
  const auto member = members_.find(key.epoch);
  const auto rank = member == members_.end() ? std::nullopt : round.plan->rank(member->second);
  if (payload.empty() || !rank) {
    return Status(StatusCode::mismatch, {.what = text(key) + ": counted",
                                         .expected = "a bucket that this agent has sent",
                                         .got = "another bucket",
                                         .remedy = {}});
  }
  std::vector<ByteSpan> combined;
  const std::uint32_t needed = is_standalone(payload) ? 0 : bucket.last_stage();
  for (std::uint32_t stage = 0; stage < needed; ++stage) {
    const auto found = round.combined.find({bucket.index, stage});
    if (found == round.combined.end() || !found->second.complete()) {
      return Status(StatusCode::mismatch, {.what = text(key) + ": stages before the last",
                                           .expected = "what they came to",
                                           .got = "nothing",
                                           .remedy = {}});
    }
    combined.push_back(found->second.bytes());
  }
  FloatVector decoded(bucket.values);
  TRIBUTARY_TRY(decode_contribution(
      bucket, {.round = round.plan->context(bucket, *rank), .combined = combined}, payload,
      decoded));
  return account_->committed(key, bucket.first_value, std::move(decoded));
}

Status Auditor::commit_recorded_bucket(const RoundKey& key, const PlannedBucket& bucket) {
  const Account::Given* const given = account_->given(key, bucket.index);
  if (given == nullptr) {
    return Status(StatusCode::mismatch, {.what = text(key) + ": counted",
                                         .expected = "a bucket that this agent has stored",
                                         .got = "another bucket",
                                         .remedy = {}});
  }
  return account_->committed(key, bucket.first_value, given->values);
}

// Payloads are more direct evidence than the record, if they are available.
void Auditor::take_record(const ContributionRecord& record) {
  const auto found = rounds_.find(record.id);
  if (found == rounds_.end()) return;
  const AuditedRound& round = found->second;
  const auto shown = [&](const ContributionPart& part) {
    return shown_by_record(*round.plan, round.plan->buckets()[part.bucket]);
  };
  if (std::ranges::none_of(record.parts, shown)) return;
  for (const ContributionPart& part : record.parts) {
    if (shown(part)) account_->gave(record.id, part.bucket, given_away(record, part));
  }
}

// The update as the machine bounds it before it takes it.
SharedFloats Auditor::bounded(const SharedFloats& update) const {
  const double norm_max = job_ ? job_->wire().norm_max() : 0;
  if (norm_max <= 0 || !update) return update;
  auto copy = std::make_shared<FloatVector>(*update);
  bound_norm(copy, norm_max);
  return copy;
}

// Adds the part of the update that the machine will take if it takes the update: the values from
// `first` on that it has not taken yet.
void Auditor::offer(Token token, const SharedFloats& update, std::uint64_t first) {
  if (!account_ || !update || !training_ || training_->first != token) return;
  if (update->size() != job_->values() || first >= missing_) return;
  if (const AuditedRound* round = round_of_training()) {
    return offer_weighted(update, {first, missing_}, round->weight);
  }
  // The machine takes it when the plan is here, which may have another weight.
  ahead_ = {.round = training_->second.round, .update = update, .missing = {first, missing_}};
  offer_weighted(update, ahead_->missing, 1);
}

// The plan of a training ahead may have another epoch or attempt than the order said.
const Auditor::AuditedRound* Auditor::round_of_training() const {
  if (const auto exact = rounds_.find(training_->second); exact != rounds_.end()) {
    return &exact->second;
  }
  const AuditedRound* newest = nullptr;
  for (const auto& [key, round] : rounds_) {
    if (key.round == training_->second.round) newest = &round;
  }
  return newest;
}

void Auditor::offer_weighted(const SharedFloats& update, const Missing& missing, float weight) {
  if (weight == 1 && missing.first == 0 && missing.end == update->size()) {
    return account_->offer(update);
  }
  auto taken = std::make_shared<FloatVector>(update->size(), 0.0f);
  for (std::size_t i = missing.first; i < missing.end; ++i) (*taken)[i] = weight * (*update)[i];
  account_->offer(std::move(taken));
}

Status Auditor::take_action(const Action& action) {
  Status status;
  std::visit(Overloaded{
                 [this](const Train& train) {
                   training_ = {train.token, train.id};
                   ahead_.reset();
                 },
                 [this, &status](const Send& sent) { status = take_sent(sent); },
                 [this](const StoreAgent& stored) {
                   const auto* record = std::get_if<ContributionRecord>(&stored.record);
                   if (record && account_) take_record(*record);
                 },
                 [this](const ResidualDropped& dropped) {
                   if (account_) account_->dropped(dropped.change);
                 },
                 // These carry no part of an update. The record has the values that go to peers.
                 Ignored<ClosePeer, RunInBackground, OpenPeers, ClosePeers, SendToPeer,
                         SumInNetwork, StopSums, Note, Reading, Finished>(),
                 // Only coordinators perform these actions.
                 Ignored<StoreCoordinator, LoadRound, ProbeEchoed, LinksReported, SpeedsReported,
                         AgentReported, RoundPlayed, CommandDone>(),
                 // Only aggregators perform this action.
                 Ignored<InstallSums>(),
             },
             action);
  return status;
}

Status Auditor::take_sent(const Send& sent) {
  if (!account_) return {};
  const wire::Update* update = wire::GetFrame(sent.frame.data())->message_as_Update();
  if (!update) return {};
  return account_->sent(key_of(*update->part()->id()), *update->part(), sent.payload,
                        update->encoded_round());
}

Status Auditor::compare(const Agent& machine) {
  if (!account_ || machine.job() != job_->job()) return {};
  if (seen_version_ == machine.model_version() && seen_taken_ == machine.updates_taken()) return {};
  // The account does not start with the job.
  if (seen_taken_ == UINT64_MAX && (machine.updates_taken() > 0 || !machine.undecided().empty())) {
    account_.reset();
    return {};
  }
  seen_version_ = machine.model_version();
  seen_taken_ = machine.updates_taken();
  const double unit = machine.residual_unit();
  if (job_->gradient() && unit_ != 0 && unit != unit_) {
    account_->rescale(unit_ / unit, machine.undecided());
  }
  unit_ = unit;
  TRIBUTARY_TRY(account_->take(seen_taken_, false));
  const SharedFloats residual = machine.residual();
  return account_->check(residual ? residual->data() : nullptr, machine.undecided());
}

}  // namespace tributary
