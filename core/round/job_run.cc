#include "core/round/job_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/checksum.h"

namespace tributary {
namespace {

Status contradiction(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "restore the journal from a copy"});
}

std::uint64_t redo_budget(const CoordinatorConfig& config, const JobModel& job) {
  return static_cast<std::uint64_t>(config.redo_models * static_cast<double>(job.values()) *
                                    sizeof(float));
}

// The plan that a record keeps.
Result<std::shared_ptr<const RoundPlan>> plan_of(const RoundRecord& record, const JobModel& job,
                                                 CodecShelf& shelf) {
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*record.plan));
  const wire::Plan* plan = frame->message_as_Plan();
  if (!plan) return contradiction("plan of " + text(record.id), "a Plan", "another message");
  wire::PlanT unpacked;
  plan->UnPackTo(&unpacked);
  return RoundPlan::make(unpacked, job, shelf);
}

// Places the redo payloads of a record, all stages of each bucket with an outcome.
Result<Published> published_of(const CommitRecord& commit, std::shared_ptr<const RoundPlan> plan) {
  Published published;
  published.plan = std::move(plan);
  published.record = std::make_shared<const RoundRecord>(commit.round);
  published.commit = commit_message(commit.round);
  std::map<std::pair<std::uint32_t, std::uint32_t>, SharedBytes> payloads;
  for (const RedoPayload& redo : commit.redo) payloads[{redo.bucket, redo.stage}] = redo.payload;
  for (const OutcomeRecord& outcome : commit.round.outcomes) {
    if (outcome.bucket >= published.plan->buckets().size() ||
        outcome.contributor_set >= commit.round.contributor_sets.size()) {
      return contradiction("outcome of " + text(commit.round.id), "a bucket and set of the plan",
                           "another");
    }
    const PlannedBucket& bucket = published.plan->buckets()[outcome.bucket];
    published.contributors[outcome.bucket] =
        commit.round.contributor_sets[outcome.contributor_set].contributors;
    for (std::uint32_t stage = 0; stage < bucket.stages(); ++stage) {
      const auto found = payloads.find({outcome.bucket, stage});
      if (found == payloads.end()) {
        return contradiction("redo of " + text(commit.round.id), "all stages of a bucket", "fewer");
      }
      published.bytes += found->second->size();
      published.combined[outcome.bucket].emplace_back(found->second, bucket.part_bytes);
    }
  }
  return published;
}

std::vector<CommittedBucket> committed_buckets(const Published& published) {
  std::vector<CommittedBucket> buckets;
  for (const OutcomeRecord& outcome : published.record->outcomes) {
    const ContributorSetRecord& set = published.record->contributor_sets[outcome.contributor_set];
    CommittedBucket one{.bucket = outcome.bucket,
                        .divisor = set.divisor,
                        .contributors = set.contributors,
                        .combined = {}};
    for (const CutPayload& payload : published.combined.at(outcome.bucket)) {
      one.combined.emplace_back(*payload.bytes());
    }
    buckets.push_back(std::move(one));
  }
  return buckets;
}

}  // namespace

JobRun::JobRun(CoordinatorDesk& desk, std::shared_ptr<const JobModel> job, RestoredJob state)
    : desk_(desk),
      record_(std::move(state.job)),
      job_(std::move(job)),
      history_(redo_budget(desk.config, *job_), desk.config.history_rounds_max),
      last_epoch_(state.last_epoch) {}

Result<std::unique_ptr<JobRun>> JobRun::make(CoordinatorDesk& desk, RestoredJob state) {
  TRIBUTARY_TRY(check(state.job.policy));
  TRIBUTARY_ASSIGN(std::shared_ptr<const JobModel> job, JobModel::make(state.job.definition));
  RestoredJob rest = state;
  std::unique_ptr<JobRun> run(new JobRun(desk, std::move(job), std::move(state)));
  TRIBUTARY_TRY(run->restore(rest));
  return run;
}

Status JobRun::restore(RestoredJob& state) {
  TRIBUTARY_ASSIGN(rule_, make_model_rule(job_->wire()));
  const CheckpointRecord& checkpoint = state.checkpoint;
  if (!checkpoint.model || checkpoint.model->size() != job_->values()) {
    return contradiction("model of a checkpoint", fmt::format("{} values", job_->values()),
                         fmt::format("{}", checkpoint.model ? checkpoint.model->size() : 0));
  }
  if (model_hash_of(*checkpoint.model) != checkpoint.model_hash) {
    return contradiction("hash of a checkpoint", fmt::format("{:016x}", checkpoint.model_hash),
                         "that of another model");
  }
  if (checkpoint.rule_state) TRIBUTARY_TRY(rule_->restore(*checkpoint.rule_state));
  version_ = checkpoint_version_ = checkpoint.model_version;
  model_hash_ = checkpoint.model_hash;
  model_ = checkpoint.model;
  if (state.aggregator_residual) {
    if (state.aggregator_residual->size() != job_->values()) {
      return contradiction("residual of the aggregator", "the model's size", "another");
    }
    committed_residual_ = state.aggregator_residual;
    aggregator_residual_ = *committed_residual_;
  }
  for (EpochRecord& epoch : state.epochs) {
    last_epoch_ = std::max(last_epoch_, epoch.epoch);
    history_.add_epoch(std::make_shared<const EpochRecord>(std::move(epoch)));
  }
  for (RoundRecord& record : state.history) {
    journal_entry_ = std::max(journal_entry_, record.journal_entry);
    history_.add_outcome(std::make_shared<const RoundRecord>(std::move(record)));
  }
  for (const CommitRecord& commit : state.redo) TRIBUTARY_TRY(redo(commit));
  rule_state_ = std::make_shared<const Bytes>(rule_->save());
  if (record_.state == wire::JobState::finished || record_.state == wire::JobState::stopped) {
    phase_ = Phase::over;
  }
  return {};
}

Status JobRun::redo(const CommitRecord& commit) {
  if (commit.round.id.round != version_ + 1 || commit.round.previous_hash != model_hash_) {
    return contradiction("redo of " + text(commit.round.id),
                         fmt::format("the round after {}", version_), "another");
  }
  TRIBUTARY_ASSIGN(auto plan, plan_of(commit.round, *job_, desk_.shelf));
  TRIBUTARY_ASSIGN(Published published, published_of(commit, std::move(plan)));
  auto model = std::make_shared<FloatVector>(*model_);
  TRIBUTARY_TRY(apply_round(*published.plan, committed_buckets(published), desk_.config.execution,
                            *rule_, scratch_, *model));
  if (model_hash_of(*model) != commit.round.model_hash) {
    return contradiction("model after " + text(commit.round.id),
                         fmt::format("hash {:016x}", commit.round.model_hash),
                         fmt::format("{:016x}", model_hash_of(*model)));
  }
  version_ = commit.round.id.round;
  model_hash_ = commit.round.model_hash;
  model_ = std::move(model);
  journal_entry_ = std::max(journal_entry_, commit.round.journal_entry);
  redo_bytes_ += published.bytes;
  history_.publish(std::move(published));
  return {};
}

std::uint64_t JobRun::buffered_bytes() const {
  std::uint64_t bytes = history_.bytes();
  if (round_) bytes += round_->bytes();
  return bytes;
}

bool JobRun::over() const { return phase_ == Phase::over && state_stored_; }

// --- waiting, opening
// ------------------------------------------------------------------------------

bool JobRun::ready(const AgentSession& session) const {
  if (session.job != record_.job || !session.synced || session.transfer != 0 || session.leaving) {
    return false;
  }
  // The commit that it was just sent arrives before, or with, the plan that comes next.
  return session.version == version_ ||
         (session.version + 1 == version_ && session.commit_sent == version_);
}

bool JobRun::waits_for_catching_up() {
  if (record_.policy.catch_up_wait_ms == 0) return false;
  const bool some = std::ranges::any_of(desk_.roster.all(), [&](const auto& item) {
    return item.second->job == record_.job && !ready(*item.second);
  });
  return some && desk_.now < waiting_since_ns_ + record_.policy.catch_up_wait_ms * kNsPerMs;
}

void JobRun::maybe_begin() {
  if (phase_ == Phase::backing_off && desk_.now >= resume_at_ns_) phase_ = Phase::waiting;
  if (phase_ != Phase::waiting || record_.state != wire::JobState::running) return;
  if (version_ >= job_->wire().rounds()) return finish_if_done();
  const auto ready_agents = std::ranges::count_if(
      desk_.roster.all(), [&](const auto& item) { return ready(*item.second); });
  if (ready_agents < record_.policy.agents_min) return;
  if (waiting_since_ns_ < 0) waiting_since_ns_ = desk_.now;
  if (waits_for_catching_up()) return;
  if (membership_changed()) {
    open_epoch();
  } else {
    begin_attempt();
  }
}

// Somebody is ready who is not in the epoch, or is there anew, or somebody of it is gone. A member
// that is only behind stays one.
bool JobRun::membership_changed() const {
  if (!epoch_) return true;
  for (const EpochMember& member : members_) {
    if (!desk_.roster.all().contains(member.session)) return true;
  }
  return std::ranges::any_of(desk_.roster.all(), [&](const auto& item) {
    const AgentSession& session = *item.second;
    if (!ready(session)) return false;
    const std::optional<std::uint32_t> member = member_of(session);
    return !member || members_[*member].generation != session.generation;
  });
}

void JobRun::open_epoch() {
  members_.clear();
  member_by_agent_.clear();
  auto record = std::make_shared<EpochRecord>();
  record->job = record_.job;
  record->epoch = ++last_epoch_;
  record->first_round = version_ + 1;
  std::map<std::string, const AgentSession*> by_name;
  for (const auto& [number, session] : desk_.roster.all()) {
    if (session->job == record_.job && session->synced && !session->leaving) {
      by_name[session->agent_id] = session.get();
    }
  }
  for (const auto& [agent_id, session] : by_name) {
    member_by_agent_[agent_id] = static_cast<std::uint32_t>(members_.size());
    members_.push_back({.agent_id = agent_id,
                        .incarnation = session->incarnation,
                        .session = session->conversation.session(),
                        .generation = session->generation,
                        .weight = 1});
    record->members.push_back({.agent_id = agent_id, .weight = 1});
  }
  attempt_ = 0;
  excluded_ = Bitmap();
  epoch_ = record;
  phase_ = Phase::opening;
  desk_.store.push(*record, [this] { announce_epoch(); });
}

void JobRun::announce_epoch() {
  history_.add_epoch(epoch_);
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (AgentSession* session = desk_.roster.by_session(members_[i].session)) {
      send_membership(*session, i);
    }
  }
  if (phase_ != Phase::opening) return;  // stopped meanwhile
  phase_ = Phase::waiting;
  if (record_.state == wire::JobState::running) begin_attempt();
}

void JobRun::send_membership(AgentSession& session, std::uint32_t member) {
  double weight_sum = 0;
  for (const EpochMember& one : members_) weight_sum += one.weight;
  session.conversation.ask(
      desk_.now,
      [epoch = epoch_, member, weight = members_[member].weight, weight_sum] {
        wire::MembershipT membership;
        membership.job = epoch->job;
        membership.epoch = epoch->epoch;
        membership.first_round = epoch->first_round;
        membership.agents = static_cast<std::uint32_t>(epoch->members.size());
        membership.agent_index = member;
        membership.weight = weight;
        membership.weight_sum = weight_sum;
        return frame_with(membership);
      },
      desk_.out, epoch_->epoch);
}

// --- running
// ---------------------------------------------------------------------------------------

Bitmap JobRun::choose_participants() const {
  Bitmap participants(members_.size());
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const auto found = desk_.roster.all().find(members_[i].session);
    if (found == desk_.roster.all().end() || !ready(*found->second)) continue;
    if (!excluded_.test(i)) participants.set(i);
  }
  return participants;
}

void JobRun::begin_attempt() {
  const Bitmap participants = choose_participants();
  excluded_ = Bitmap();
  if (participants.count() < record_.policy.agents_min) return;
  if (Status status = start_round(participants); !status.ok()) {
    desk_.note(LogLevel::error, "plan_failed", name(status.code()), {}, status.text(),
               {.job = record_.job, .round = version_ + 1});
    round_.reset();
    change(wire::JobState::paused, "no plan can be made: " + status.text(), {});
  }
}

Status JobRun::start_round(const Bitmap& participants) {
  PlanRequest request{
      .key = {.job = record_.job,
              .round = version_ + 1,
              .epoch = epoch_->epoch,
              .attempt = attempt_},
      .model_hash = model_hash_,
      .participants = participants,
      .weights = {},
      .payload_bytes = part_bytes(),
      .trigger = attempt_ > 0 ? wire::Trigger::after_abort : wire::Trigger::unchanged};
  for (const EpochMember& member : members_) request.weights.push_back(member.weight);
  TRIBUTARY_ASSIGN(const wire::PlanT wire_plan,
                   build_plan(*job_, record_.policy, desk_.shelf, request));
  TRIBUTARY_ASSIGN(auto plan, RoundPlan::make(wire_plan, *job_, desk_.shelf));
  const bool encodes_again = std::ranges::any_of(plan->buckets(), [](const PlannedBucket& bucket) {
    return bucket.codec->aggregation() != Aggregation::sum && bucket.keeps_error();
  });
  if (encodes_again && aggregator_residual_.empty()) {
    aggregator_residual_.assign(job_->values(), 0.0f);
  }

  std::vector<RoundMember> members;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    members.push_back({.session = members_[i].session, .participates = participants.test(i)});
  }
  round_ = std::make_unique<ActiveRound>(plan, std::move(members), desk_.config.incoming_bytes_max);
  TRIBUTARY_TRY(round_->begin(desk_.config.execution, aggregator_residual_));
  round_->began_at_ns = desk_.now;
  round_->deadline_ns = desk_.now + record_.policy.deadline_ms * kNsPerMs;
  round_->preliminary_deadline_ns =
      desk_.now +
      std::min(record_.policy.preliminary_deadline_ms, record_.policy.deadline_ms) * kNsPerMs;
  phase_ = Phase::running;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (!participants.test(i)) continue;
    AgentSession* session = desk_.roster.by_session(members_[i].session);
    if (session) send_plan(*session, plan, members_[i].weight);
  }
  return {};
}

void JobRun::send_plan(AgentSession& session, const std::shared_ptr<const RoundPlan>& plan,
                       double weight) {
  session.plan_sent = plan->key();
  session.conversation.ask(
      desk_.now,
      [plan, weight] {
        wire::PlanT wire = plan->wire();
        wire.weight = weight;
        return frame_with(std::move(wire));
      },
      desk_.out, plan->key().round);
}

void JobRun::close_where_complete() {
  if (phase_ != Phase::running) return;
  for (const auto& bucket : round_->buckets()) {
    while (bucket->open() && round_->complete(*bucket)) close_stage(*bucket);
  }
  if (!round_->any_open()) finish_round();
}

void JobRun::close_stage(BucketAggregation& bucket) {
  const std::uint32_t number = bucket.bucket().index;
  const std::uint32_t stage = bucket.stage();
  const std::uint32_t contributors = bucket.contributors();
  round_->incoming().erase_bucket(number);
  if (Status status = bucket.close(round_->plan().wire().quorum); !status.ok()) {
    desk_.note(LogLevel::error, "stage_failed", name(status.code()),
               fmt::format("bucket {}", number), status.text(), round_->key());
  }
  if (bucket.stage() == stage) return;  // dropped: nothing to tell
  const CutPayload& payload = round_->cut_last(bucket);
  for (const RoundMember& member : round_->members()) {
    if (!member.participates) continue;
    AgentSession* session = desk_.roster.by_session(member.session);
    if (!session) continue;
    send_aggregate(*session, round_->key(), number, stage, contributors, payload,
                   {0, payload.parts()});
  }
  call_waiting();
}

void JobRun::close_overdue() {
  if (phase_ != Phase::running) return;
  const bool over = desk_.now >= round_->deadline_ns;
  if (!over && desk_.now < round_->preliminary_deadline_ns) return;
  round_->preliminary_deadline_ns = kNever;
  for (const auto& bucket : round_->buckets()) {
    while (bucket->open() && (over || !bucket->at_last_stage())) close_stage(*bucket);
  }
  close_where_complete();
}

void JobRun::finish_round() {
  const bool some =
      std::ranges::any_of(round_->buckets(), [](const auto& bucket) { return bucket->finished(); });
  if (some) {
    commit();
  } else {
    abort(wire::AbortReason::no_quorum, true);
  }
}

void JobRun::abort(wire::AbortReason reason, bool retry) {
  const RoundKey key = round_->key();
  desk_.note(LogLevel::warning, "round_aborted", wire::EnumNameAbortReason(reason), {},
             "an attempt at " + text(key) + " was given up", key);
  excluded_ = Bitmap(members_.size());
  bool some_heard = false;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const RoundMember& member = round_->members()[i];
    some_heard |= member.heard;
    if (!member.heard && member.participates) excluded_.set(i);
    AgentSession* session = desk_.roster.by_session(member.session);
    if (!session || !member.participates) continue;
    session->conversation.ask(
        desk_.now,
        [key, reason, retry, version = version_, hash = model_hash_] {
          wire::AbortT abort;
          abort.id = std::make_unique<wire::RoundId>(wire_id(key));
          abort.first_round = key.round;
          abort.reason = reason;
          abort.retry = retry;
          abort.fallback = wire::Collective::star;
          abort.roll_back_version = version;
          abort.roll_back_hash = hash;
          return frame_with(std::move(abort));
        },
        desk_.out, key.round);
  }
  if (!some_heard) excluded_ = Bitmap();
  for (const auto& bucket : round_->buckets()) bucket->settle(false);
  round_.reset();
  resume_at_ns_ =
      desk_.now + (TimeNs{record_.policy.retry_after_ms} << std::min(attempt_, 5u)) * kNsPerMs;
  ++attempt_;
  phase_ = Phase::backing_off;
}

// --- committing
// ------------------------------------------------------------------------------------

double JobRun::divisor_of_bucket(const BucketAggregation& bucket) const {
  std::vector<double> weights;
  for (const EpochMember& member : members_) weights.push_back(member.weight);
  return divisor_of(round_->plan().wire(), bucket.in_result(), weights);
}

// The buckets that count: all that can be decoded and are finite.
std::vector<BucketAggregation*> JobRun::apply_buckets(FloatVector& model) {
  std::vector<BucketAggregation*> applied;
  const Bytes before = rule_->save();
  rule_->begin(round_->key().round);
  for (const auto& bucket : round_->buckets()) {
    if (!bucket->finished()) continue;
    const CommittedBucket committed = bucket->committed(divisor_of_bucket(*bucket));
    if (Status status = decode_bucket(round_->plan(), committed, desk_.config.execution, scratch_);
        !status.ok()) {
      desk_.note(LogLevel::error, "bucket_dropped", name(status.code()), {}, status.text(),
                 round_->key());
      bucket->settle(false);
      bucket->drop();
      continue;
    }
    rule_->apply(rule_step(round_->plan(), committed, scratch_), model);
    applied.push_back(bucket.get());
  }
  if (applied.empty()) ignore_error(rule_->restore(before));  // it was saved a moment ago
  return applied;
}

void JobRun::commit() {
  auto model = std::make_shared<FloatVector>(*model_);
  const std::vector<BucketAggregation*> applied = apply_buckets(*model);
  if (applied.empty()) return abort(wire::AbortReason::not_finite, true);
  for (BucketAggregation* bucket : applied) bucket->settle(true);

  CommitRecord record = record_commit(applied, *model);
  Committed commit{
      .published = publish_of(applied, std::make_shared<const RoundRecord>(record.round)),
      .model = model,
      .rule_state = std::make_shared<const Bytes>(rule_->save()),
      .residual = record.aggregator_residual,
      .checkpointed = checkpoint_due()};
  redo_bytes_ += commit.published.bytes;
  if (commit.checkpointed) {
    record.checkpoint = CheckpointRecord{.job = record_.job,
                                         .model_version = record.round.id.round,
                                         .model_hash = record.round.model_hash,
                                         .model = commit.model,
                                         .rule_state = commit.rule_state};
  }
  phase_ = Phase::committing;
  desk_.store.push(std::move(record), [this, commit = std::move(commit)] { committed(commit); });
}

CommitRecord JobRun::record_commit(const std::vector<BucketAggregation*>& buckets,
                                   const FloatVector& model) {
  CommitRecord commit;
  RoundRecord& record = commit.round;
  record.id = round_->key();
  record.journal_entry = ++journal_entry_;
  record.members = round_->plan().members();
  record.buckets = static_cast<std::uint32_t>(round_->plan().buckets().size());
  record.previous_hash = model_hash_;
  record.model_hash = model_hash_of(model);
  record.began_at_ns = round_->began_at_ns;
  record.committed_at_ns = desk_.now;
  record.bytes_up = round_->bytes_up;
  record.bytes_down = round_->bytes_down;
  Result<SharedBytes> plan = keep_message(round_->plan().wire());
  if (plan.ok()) record.plan = std::move(*plan);  // it was sent in the same form
  record_outcomes(buckets, record);
  for (const BucketAggregation* bucket : buckets) {
    for (std::uint32_t stage = 0; stage < bucket->combined().size(); ++stage) {
      commit.redo.push_back(
          {.bucket = bucket->bucket().index, .stage = stage, .payload = bucket->combined()[stage]});
    }
  }
  if (!aggregator_residual_.empty()) {
    commit.aggregator_residual = std::make_shared<const FloatVector>(aggregator_residual_);
  }
  commit.reports = std::exchange(reports_, {});
  return commit;
}

void JobRun::record_outcomes(const std::vector<BucketAggregation*>& buckets,
                             RoundRecord& record) const {
  std::map<std::vector<std::uint8_t>, std::uint32_t> places;
  for (const BucketAggregation* bucket : buckets) {
    const Bitmap& in = bucket->in_result();
    const auto [place, fresh] =
        places.emplace(in.bytes(), static_cast<std::uint32_t>(places.size()));
    if (fresh) {
      record.contributor_sets.push_back(
          {.bits = in.bytes(), .contributors = in.count(), .divisor = divisor_of_bucket(*bucket)});
    }
    record.outcomes.push_back({.bucket = bucket->bucket().index,
                               .contributor_set = place->second,
                               .result_hash = hash64(*bucket->combined().back())});
  }
}

Published JobRun::publish_of(const std::vector<BucketAggregation*>& buckets,
                             std::shared_ptr<const RoundRecord> record) {
  Published published;
  published.plan = round_->shared_plan();
  published.commit = commit_message(*record);
  published.record = std::move(record);
  for (const BucketAggregation* bucket : buckets) {
    const std::uint32_t number = bucket->bucket().index;
    published.contributors[number] = bucket->in_result().count();
    published.bytes += bucket->bytes();
    published.combined[number] = round_->cut_of(number);
  }
  return published;
}

bool JobRun::checkpoint_due() const {
  const RoundPolicy& policy = record_.policy;
  const double model_bytes = static_cast<double>(job_->values()) * sizeof(float);
  return version_ + 1 - checkpoint_version_ >= policy.checkpoint_rounds ||
         version_ + 1 >= job_->wire().rounds() ||
         static_cast<double>(redo_bytes_) >= policy.checkpoint_redo_models * model_bytes;
}

void JobRun::committed(Committed commit) {
  const Published& published = commit.published;
  version_ = published.record->id.round;
  model_hash_ = published.record->model_hash;
  model_ = std::move(commit.model);
  rule_state_ = std::move(commit.rule_state);
  if (commit.residual) committed_residual_ = std::move(commit.residual);
  if (commit.checkpointed) {
    checkpoint_version_ = version_;
    redo_bytes_ = 0;
  }
  desk_.out.emplace_back(
      Reading{.name = "round_s",
              .value = static_cast<double>(desk_.now - published.record->began_at_ns) / 1e9,
              .job = record_.job,
              .round = version_});
  history_.publish(std::move(commit.published));
  round_.reset();
  attempt_ = 0;
  if (phase_ == Phase::committing) phase_ = Phase::waiting;
  waiting_since_ns_ = desk_.now;
  for (const auto& [number, session] : desk_.roster.all()) advance(*session);
  maybe_begin();
}

// --- the job's own state
// ---------------------------------------------------------------------------

void JobRun::finish_if_done() {
  if (version_ < job_->wire().rounds() || phase_ == Phase::over) return;
  change(wire::JobState::finished, "all rounds are done", {});
}

void JobRun::change(wire::JobState state, std::string reason, std::function<void()> done) {
  const bool ends = state == wire::JobState::finished || state == wire::JobState::stopped;
  if (ends && round_ && phase_ == Phase::running) abort(wire::AbortReason::by_operator, false);
  if (ends) phase_ = Phase::over;
  record_.state = state;
  if (reason.size() > wire::kTextBytesMax) reason.resize(wire::kTextBytesMax);
  record_.state_reason = std::move(reason);
  ++record_.change;
  state_stored_ = false;
  desk_.store.push(record_, [this, change = record_.change, done = std::move(done)] {
    state_stored_ = change == record_.change;
    for (const auto& [number, session] : desk_.roster.all()) {
      if (session->job == record_.job) send_state(*session);
    }
    if (done) done();
    maybe_begin();
  });
}

void JobRun::tick() {
  close_overdue();
  maybe_begin();
}

TimeNs JobRun::next_due_ns() const {
  switch (phase_) {
    case Phase::running:
      return std::min(round_->preliminary_deadline_ns, round_->deadline_ns);
    case Phase::backing_off:
      return resume_at_ns_;
    case Phase::waiting:
      if (record_.policy.catch_up_wait_ms > 0 && waiting_since_ns_ >= 0) {
        const TimeNs due = waiting_since_ns_ + record_.policy.catch_up_wait_ms * kNsPerMs;
        return due > desk_.now ? due : kNever;
      }
      return kNever;
    default:
      return kNever;
  }
}

}  // namespace tributary
