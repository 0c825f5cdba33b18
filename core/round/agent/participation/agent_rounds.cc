#include "core/round/agent/participation/agent_rounds.h"

#include <algorithm>
#include <utility>

namespace tributary {

// --- plans -------------------------------------------------------------------------------------

void AgentRounds::receive(const wire::Plan& plan, std::uint64_t message_id) {
  const Replica& replica = parts_.replica;
  if (!replica.job() || plan.id()->job() != replica.job_id()) {
    return parts_.session.refuse(
        message_id, wire::RefusalCode::unknown_job,
        Status(StatusCode::not_found, {.what = "job of a plan",
                                       .expected = "the job this agent has",
                                       .got = "another",
                                       .remedy = "send the Job first"}));
  }
  wire::PlanT unpacked;
  plan.UnPackTo(&unpacked);
  Result<std::shared_ptr<const RoundPlan>> made =
      RoundPlan::make(unpacked, *replica.job(), parts_.codecs);
  if (!made.ok()) {
    return parts_.session.refuse(message_id, wire::RefusalCode::unsupported, made.status());
  }
  parts_.session.answer(message_id);
  const RoundKey key = (*made)->key();
  // The round is part of the model already.
  if (replica.model() && key.round <= replica.version()) return;
  if (round_ && key <= round_->key()) return;
  auto round = std::make_unique<AgentRound>(std::move(*made));
  if (can_begin(round->plan())) return begin(std::move(round));
  waiting_.add(std::move(round));
}

// A round that the agent only follows needs no epoch, because the agent only applies its commit.
// The same holds for a round that is committed already, perhaps in an epoch that has ended.
bool AgentRounds::can_begin(const RoundPlan& plan) const {
  return parts_.replica.model() && !parts_.transfer.requested() &&
         plan.wire().model_version == parts_.replica.version() &&
         (plan.wire().weight == 0 || plan.key().epoch <= parts_.peers.epoch() ||
          commit_.of(plan.key()));
}

void AgentRounds::begin_next() {
  if (!parts_.replica.model()) return;
  // These rounds are part of the model.
  waiting_.erase_up_to(parts_.replica.version());
  std::unique_ptr<AgentRound> next =
      waiting_.take_first([this](const RoundPlan& plan) { return can_begin(plan); });
  if (next) begin(std::move(next));
}

void AgentRounds::begin(std::unique_ptr<AgentRound> round) {
  if (round->plan().wire().model_hash != parts_.replica.id().hash) {
    context_.out.note(LogLevel::error, "replica_diverged", "mismatch",
                      "the plan's model is another");
    return parts_.transfer.request(wire::TransferReason::diverged);
  }
  close();
  take_part_in(*round);
  round_ = std::move(round);
  context_.out.set_round(round_->key().round);
  parts_.participation.begin(*round_);
  try_commit();
}

// Marks the round as one in which this agent participates, if the plan names it as a participant.
void AgentRounds::take_part_in(AgentRound& round) {
  ResidualAccount& residual = parts_.updates.residual();
  const RoundPlan& plan = round.plan();
  const RoundKey key = plan.key();
  // A new attempt at a round implies that the earlier attempts do not count.
  for (const UndecidedRound& undecided : std::vector(residual.undecided())) {
    if (undecided.id.round == key.round && undecided.id < key) {
      residual.settle_excluded(undecided.id);
    }
  }
  const std::uint32_t member = parts_.peers.member();
  if (plan.wire().weight <= 0 || key.epoch != parts_.peers.epoch() || member >= plan.members() ||
      !plan.participants().test(member)) {
    return;
  }
  if (residual.undecided().empty()) {
    residual.rescale_to(plan.wire().learning_rate, parts_.replica.job()->gradient());
  }
  round.take_part_as(member);
}

// --- ends --------------------------------------------------------------------------------------

void AgentRounds::close() {
  parts_.participation.close();
  forget_round();
}

void AgentRounds::drop() {
  parts_.participation.drop();
  forget_round();
}

void AgentRounds::forget_round() {
  round_.reset();
  context_.out.set_round(0);
  parts_.missing.reset();
}

void AgentRounds::receive(const wire::Abort& abort) {
  const RoundKey key = key_of(*abort.id());
  if (abort.excludes()) {
    if (key.job != parts_.replica.job_id()) return;
    context_.out.note(LogLevel::error, "excluded", wire::EnumNameAbortReason(abort.reason()),
                      abort.text() ? abort.text()->str() : std::string());
    return parts_.participation.exclude(key);
  }
  waiting_.erase(key);
  if (round_ && round_->key() == key) return close();
  parts_.participation.contribution().finish_encoding();
  parts_.updates.residual().settle_excluded(key);
}

void AgentRounds::begin_job() {
  parts_.participation.begin_job();
  forget_round();
  waiting_.clear();
  commit_.clear();
}

// An older model may mean that the coordinator has lost rounds. The plans of rounds after them
// would hide those of the rounds that replace them. It may also mean that commits follow, among
// them that of the current round; so the contribution stays undecided until the coordinator says
// what became of it.
void AgentRounds::model_replaced(std::uint64_t before) {
  const std::uint64_t version = parts_.replica.version();
  if (version < before) {
    if (round_ && round_->plan().wire().model_version > version) drop();
    waiting_.clear();
    commit_.clear();
  }
  if (round_ && round_->key().round <= version) drop();
  if (commit_.get() && commit_.get()->model_version <= version) commit_.clear();
  parts_.participation.forget_encoders();
}

// A round continues in a new session, because it is identified by its RoundId and not by the
// session.
void AgentRounds::session_opened(std::uint32_t parts_in_flight) {
  if (!round_) return;
  parts_.missing.session_opened();
  // A commit that could not be applied yet is sent again in this session.
  commit_.clear();
  parts_.participation.session_opened(parts_in_flight);
}

// --- aggregates --------------------------------------------------------------------------------

void AgentRounds::receive(const wire::Aggregate& aggregate, ByteSpan payload) {
  commit_.wait_again(context_.now);
  const RoundKey key = key_of(*aggregate.part()->id());
  AgentRound* waiting = waiting_.find(key);
  AgentRound* round = waiting ? waiting : round_.get();
  if (!round || round->key() != key) {
    // The round is over or has not begun. If this aggregate is needed later, it is requested then.
    return context_.out.note(LogLevel::debug, "payload_late", "wrong_epoch", text(key));
  }
  round->cost().bytes_down += payload.size();
  const Result<bool> whole = round->take(*aggregate.part(), payload);
  if (!whole.ok()) {
    return context_.out.refuse_frame(name(whole.status().code()), whole.status().text());
  }
  const PlannedBucket& bucket = round->plan().buckets()[aggregate.part()->bucket()];
  if (aggregate.part()->stage() == bucket.last_stage() &&
      aggregate.contributors() == round->plan().agents()) {
    round->work()[bucket.index].of_all = true;
  }
  if (waiting) return;
  parts_.missing.part_came();
  if (!*whole) return;
  parts_.participation.stage_closed(aggregate.part()->bucket());
  try_commit();
}

void AgentRounds::ask_for_missing() {
  if (round_) parts_.missing.ask(*round_, commit_.of(round_->key()));
}

// --- commits -----------------------------------------------------------------------------------

void AgentRounds::receive(const wire::Commit& commit) {
  const Replica& replica = parts_.replica;
  if (!replica.job() || commit.id()->job() != replica.job_id() || !replica.model()) return;
  if (commit.rounds()->size() != 1) {
    return context_.out.refuse_frame("unsupported", "a batch of rounds");
  }
  if (commit.model_version() <= replica.version()) {
    // The coordinator repeats a commit if it has not received Applied. While records wait, the
    // answer follows when they are stored.
    if (commit.model_version() == replica.version() && context_.store.empty()) {
      send_applied(key_of(*commit.id()), replica.id().hash);
    }
    return;
  }
  if (commit.model_version() != replica.version() + 1) {
    return context_.out.refuse_frame("mismatch", "a commit of a round that is too far ahead");
  }
  commit_.hold(context_.now, commit);
  try_commit();
}

void AgentRounds::try_commit() {
  const wire::CommitT* commit = round_ ? commit_.of(round_->key()) : nullptr;
  if (!commit || parts_.transfer.requested()) return;
  if (commit->model_version != parts_.replica.version() + 1) return commit_.clear();
  if (!round_->has_all(*commit->rounds[0], context_.out)) {
    return parts_.missing.needed_by_commit(*round_);
  }
  if (parts_.participation.apply(*commit)) return committed();
  commit_.clear();
  parts_.transfer.request(wire::TransferReason::diverged);
}

// The replica has the model after the round: stores it, and then reports it as applied.
void AgentRounds::committed() {
  const RoundKey id = round_->key();
  const std::uint64_t hash = parts_.replica.id().hash;
  forget_round();
  commit_.clear();
  parts_.transfer.replica_stored();
  context_.store.push(parts_.replica.record(parts_.peers.epoch(), parts_.updates.residual(),
                                            Replica::Checkpoint::if_due),
                      [this, id, hash] { send_applied(id, hash); });
}

void AgentRounds::send_applied(const RoundKey& id, std::uint64_t hash) {
  parts_.session.ask([id, hash] {
    wire::AppliedT applied;
    applied.id = std::make_unique<wire::RoundId>(wire_id(id));
    applied.model_version = id.round;
    applied.model_hash = hash;
    return frame_with(std::move(applied));
  });
}

TimeNs AgentRounds::commit_overdue_ns() const {
  if (!parts_.session.is_open() || parts_.transfer.requested() || parts_.transfer.transferring()) {
    return kNever;
  }
  return commit_.overdue_at_ns(parts_.session.ack_timeout_ns());
}

// A commit whose plan or payloads do not arrive is replaced by a transfer of the model.
void AgentRounds::replace_overdue_commit() {
  if (context_.now < commit_overdue_ns()) return;
  commit_.wait_again(context_.now);
  context_.out.note(LogLevel::warning, "commit_overdue", "behind",
                    "what belongs to it does not come");
  parts_.transfer.request(wire::TransferReason::behind);
}

TimeNs AgentRounds::next_due_ns() const {
  const TimeNs due = commit_overdue_ns();
  if (!round_) return due;
  return std::min({due, parts_.participation.upload().next_due_ns(), parts_.missing.next_due_ns()});
}

}  // namespace tributary
