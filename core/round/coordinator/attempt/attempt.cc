#include "core/round/coordinator/attempt/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/round/common/plan/mechanisms.h"
#include "core/round/coordinator/context/aggregate_stream.h"
#include "core/round/coordinator/context/plan_message.h"

namespace tributary {
namespace {

constexpr std::size_t kNamesBytesMax = 200;

// Calls `visit` with a bucket, a stage and the member's segment for each segment of a result that
// has not arrived. The segment may not exist if no other of its result has arrived.
template <typename Visit>
void for_missing_segments(const ActiveRound& round, std::uint32_t member, Visit visit) {
  const RoundPlan& plan = round.plan();
  const std::optional<std::uint32_t> rank = plan.rank(member);
  if (!rank) return;
  for (const auto& bucket : round.buckets()) {
    if (!bucket->open()) continue;
    const std::uint32_t number = bucket->bucket().index;
    const std::uint32_t segment = plan.segment_of(number, *rank);
    for (std::uint32_t stage = bucket->stage(); stage < bucket->bucket().stages(); ++stage) {
      if (plan.by_coordinator(bucket->bucket(), stage)) continue;
      const std::uint32_t known = bucket->results().segments(stage);
      const std::uint32_t segments = known > 0                     ? known
                                     : plan.wire().divides_results ? plan.agents()
                                                                   : 1;
      if (segment >= segments || bucket->results().has(stage, segment)) continue;
      visit(number, stage, segment);
    }
  }
}

// True if all segments of the member have arrived.
bool uploaded(const ActiveRound& round, std::uint32_t member) {
  bool all = true;
  for_missing_segments(round, member, [&](auto, auto, auto) { all = false; });
  return all;
}

}  // namespace

// A patient attempt waits kPatience grace times for its stragglers: an agent whose contributions
// always come too late for the usual grace time gets one in from time to time (stragglers.h). An
// agent whose upload goes on from round to round seldom needs such an attempt.
Result<std::unique_ptr<Attempt>> Attempt::make(const JobContext& job, const Membership& membership,
                                               RepeatedBytes& repeats, CarriedUploads& carried,
                                               const Setup& setup) {
  const Stragglers& stragglers = membership.stragglers();
  std::vector<RoundMember> members;
  bool patient = false;
  for (std::uint32_t i = 0; i < membership.size(); ++i) {
    const std::string& agent_id = membership.members()[i].agent_id;
    const bool waits = setup.participants.test(i) &&
                       stragglers.needs_patience(agent_id, carried.is_sending(agent_id));
    patient |= waits;
    members.push_back({.session = membership.members()[i].session,
                       .participates = setup.participants.test(i),
                       .missed_stage = waits ? std::nullopt : stragglers.missed_stage(agent_id),
                       .trained_round = setup.plan->key().round});
  }
  const GraceRule rule = grace_rule(job.policy());
  std::unique_ptr<Attempt> made(new Attempt(job, membership, repeats, carried, setup,
                                            std::move(members),
                                            patient ? rule.times(Stragglers::kPatience) : rule));
  made->patient_ = patient;
  ActiveRound& round = made->round_;
  TRIBUTARY_TRY(round.begin(job.coordinator.config.execution, setup.residual, setup.start));
  const TimeNs now = job.coordinator.now;
  round.began_at_ns = now;
  round.deadline_ns = now + setup.deadline_ms * kNsPerMs;
  // In an exchange among peers stages are closed by the members.
  if (!round.plan().by_members()) {
    round.preliminary_deadline_ns =
        now + std::min(job.policy().preliminary_deadline_ms, setup.deadline_ms) * kNsPerMs;
  }
  return made;
}

TimeNs Attempt::next_due_ns() const {
  return std::min(
      {round_.preliminary_deadline_ns, round_.deadline_ns, deadline_.next_due_ns(), grace_due_ns_});
}

AgentSession* Attempt::session_of(std::uint32_t member) const {
  return job_.coordinator.roster.by_session(round_.members()[member].session);
}

// --- members -----------------------------------------------------------------------------------

void Attempt::send_plan_to_all() {
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    if (AgentSession* const session = membership_.session_of(i)) send_plan_to(*session, i);
  }
  deadline_.start();
}

void Attempt::send_plan_to(AgentSession& session, std::uint32_t member) {
  if (!round_.members()[member].participates) return;
  send_plan(job_.coordinator, session, round_.shared_plan(),
            PlanReceiver{.member = member, .weight = membership_.members()[member].weight});
}

void Attempt::resume(AgentSession& session, std::uint32_t member) {
  round_.members()[member].session = session.conversation.session();
  round_.members()[member].upload.rate.interrupted();
  // Requests to replace another member may be lost with the earlier connection.
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    if (round_.members()[i].replaced_by == member) ask_for_segments(i, session);
  }
}

void Attempt::lose(std::uint32_t member) {
  round_.members()[member].session = 0;
  round_.members()[member].upload.rate.interrupted();
  admission_.lost(member);
}

void Attempt::withdraw(std::uint32_t member) {
  round_.members()[member].withdrawn = true;
  admission_.withdrew(member);
}

// --- payloads ----------------------------------------------------------------------------------

bool Attempt::receive_part(AgentSession& session, const wire::Part& part,
                           const PartMessage& message, ByteSpan payload) {
  CoordinatorContext& context = job_.coordinator;
  const std::optional<std::uint32_t> member = membership_.member_of(session);
  if (!member || *member != message.agent_index || !round_.members()[*member].participates) {
    context.refuse(session, "not_allowed", "a payload of an agent that is not a participant",
                   key());
    return false;
  }
  if (part.bucket() >= round_.buckets().size()) {
    context.refuse(session, "mismatch", "a bucket that is not in the plan", key());
    return false;
  }
  // Sizes are compared with the plan before any byte is kept. A part that passes can at most claim
  // the memory that the plan allows for its payload.
  const PlannedBucket& bucket = round_.buckets()[part.bucket()]->bucket();
  // The plan determines the kind of message for each stage.
  const SentAs right_kind = !round_.plan().by_coordinator(bucket, part.stage()) ? SentAs::result
                            : part.stage() >= bucket.last_stage()               ? SentAs::update
                                                                  : SentAs::preliminary;
  const bool known_stage = part.stage() < bucket.stages() ||
                           (bucket.allows_standalone && part.stage() == bucket.standalone_stage());
  const bool right_stage = known_stage && message.sent_as == right_kind;
  const bool divided = right_kind == SentAs::result && round_.plan().wire().divides_results;
  if (!right_stage || part.segments() > (divided ? round_.plan().agents() : 1) ||
      part.stage_bytes() > bucket.stage_bytes_max(round_.plan().agents()) / part.segments() + 1 ||
      part.payload_bytes() > bucket.part_bytes) {
    context.refuse(session, "mismatch", "a part that is not in the plan", key());
    return false;
  }
  // The part counts for the member's rate even if it is refused below as late or repeated: it has
  // crossed the link.
  round_.count_part(round_.members()[*member],
                    {.bucket = part.bucket(),
                     .stage = part.stage(),
                     .offset = part.offset(),
                     .bytes = payload.size(),
                     .stage_bytes = part.stage_bytes()},
                    context.now, session.conversation.bulk().window().round_trip_min_ns());
  if (message.trained_round > 0 && message.trained_round < key().round) {
    round_.members()[*member].trained_round = message.trained_round;
  }
  deadline_.part_arrived();
  const std::uint32_t contributors = round_.buckets()[part.bucket()]->contributors();
  const bool whole = admission_.take(session, *member, part, payload);
  if (round_.buckets()[part.bucket()]->contributors() > contributors) {
    grace_.arrived(part.bucket(), context.now);
  }
  return whole;
}

void Attempt::receive_announcement(AgentSession& session, const wire::Receipt& receipt) {
  const std::optional<std::uint32_t> member = membership_.member_of(session);
  // Ignores a late announcement and one that could never be admitted.
  if (key() != key_of(*receipt.id()) || !member || !round_.members()[*member].participates) return;
  admission_.take_announcement(session, *member, receipt);
}

void Attempt::send_missing(AgentSession& session, const wire::Receipt& receipt) {
  if (receipt.bucket() >= round_.buckets().size()) return;
  const BucketAggregation& bucket = *round_.buckets()[receipt.bucket()];
  // An agent that lacks a stage also lacks the later ones.
  for (std::uint32_t stage = receipt.stage(); stage < bucket.combined().size(); ++stage) {
    count_sent(stream_aggregate(job_.coordinator, session,
                                {.key = key(),
                                 .bucket = receipt.bucket(),
                                 .stage = stage,
                                 .contributors = std::max(1u, bucket.contributors()),
                                 .payload = bucket.combined()[stage]},
                                stage == receipt.stage() ? receipt.received_bytes() : 0));
  }
}

// --- its end -----------------------------------------------------------------------------------

// A bucket may close several stages in one call: closing one may complete the next, if its payloads
// have arrived already.
std::optional<Attempt::End> Attempt::close_complete() {
  if (round_.plan().by_members()) {
    if (some_failed()) return End{.reason = wire::AbortReason::collective_failed};
    close_stages_of_all();
    plan_grace();
    return close_if_agreed();
  }
  for (const auto& bucket : round_.buckets()) {
    while (bucket->open() && round_.complete(*bucket)) close_stage(*bucket);
  }
  plan_grace();
  if (round_.any_open()) return std::nullopt;
  return ending();
}

// --- grace time --------------------------------------------------------------------------------

// The number of payloads with which the grace time of the bucket's open stage begins; 0: it has
// none, because it takes a single payload.
std::uint32_t Attempt::enough(const BucketAggregation& bucket) const {
  if (bucket.takes_one()) return 0;
  std::uint32_t expected = bucket.contributors();
  for (std::uint32_t i = 0; i < membership_.size(); ++i) expected += round_.awaits(bucket, i);
  return std::max(round_.least(bucket), (expected + 1) / 2);
}

bool Attempt::has_grace(const BucketAggregation& bucket) const {
  return bucket.open() && grace_.given() && bucket.contributors() >= round_.least(bucket) &&
         round_.plan().by_coordinator(bucket.bucket(), bucket.stage());
}

void Attempt::plan_grace() {
  grace_due_ns_ = kNever;
  for (const auto& bucket : round_.buckets()) {
    if (!has_grace(*bucket)) continue;
    grace_due_ns_ = std::min(grace_due_ns_, grace_.due_ns(bucket->bucket().index, enough(*bucket)));
  }
}

// Marks the members that are still awaited as late; close_complete() then no longer waits for them.
// The names in the note are cut, the tally of the round is not.
void Attempt::end_grace() {
  const TimeNs now = job_.coordinator.now;
  wire::RoundMechanismsT& facts = round_.mechanisms;
  std::string names;
  for (const auto& bucket : round_.buckets()) {
    const std::uint32_t number = bucket->bucket().index;
    if (!has_grace(*bucket)) continue;
    const std::uint32_t payloads = enough(*bucket);
    if (now < grace_.due_ns(number, payloads)) continue;
    ++facts.stages_closed_by_grace;
    const TimeNs waited = now - grace_.enough_ns(number, payloads);
    facts.grace_ms = std::max(facts.grace_ms, static_cast<std::uint32_t>(waited / kNsPerMs));
    for (std::uint32_t i = 0; i < membership_.size(); ++i) {
      if (!round_.awaits(*bucket, i)) continue;
      round_.miss(i, bucket->stage());
      if (names.size() >= kNamesBytesMax) continue;
      names += (names.empty() ? "" : ", ") + membership_.members()[i].agent_id;
    }
  }
  if (names.empty()) return;
  job_.coordinator.note(LogLevel::info, "agents_late", "grace", {},
                        fmt::format("a stage of {} closes after {} ms without {}", text(key()),
                                    (now - round_.began_at_ns) / kNsPerMs, names),
                        key());
}

std::optional<Attempt::End> Attempt::close_overdue() {
  if (job_.coordinator.now >= grace_due_ns_) {
    end_grace();
    // The aggregator's epoch is for all participants, so the late ones need another attempt.
    if (round_.plan().by_members()) {
      return End{.reason = wire::AbortReason::deadline, .some_late = true};
    }
    if (const std::optional<End> ended = close_complete()) return ended;
  }
  if (!overdue() && job_.coordinator.now < round_.preliminary_deadline_ns) return std::nullopt;
  if (round_.plan().by_members()) {
    job_.coordinator.note(LogLevel::warning, "exchange_overdue", "deadline", {},
                          "no result from " + without_result(), key());
    return End{.reason = wire::AbortReason::deadline};
  }
  // The preliminary deadline acts once.
  round_.preliminary_deadline_ns = kNever;
  for (const auto& bucket : round_.buckets()) {
    while (bucket->open() && (overdue() || !bucket->at_last_stage())) close_stage(*bucket);
  }
  return close_complete();
}

// One bucket with a result is enough: buckets without a quorum keep the old values of the model. A
// bucket with NaN or Inf ends the whole attempt, so that the search for its cause can leave out
// suspects in the next one.
Attempt::End Attempt::ending() const {
  const bool not_finite = std::ranges::any_of(
      round_.buckets(), [](const auto& bucket) { return bucket->not_finite(); });
  if (not_finite) return {.reason = wire::AbortReason::not_finite};
  const bool finished =
      std::ranges::any_of(round_.buckets(), [](const auto& bucket) { return bucket->finished(); });
  if (finished) return {.finished = true};
  return {.reason = wire::AbortReason::no_quorum};
}

void Attempt::close_stage(BucketAggregation& bucket) {
  CoordinatorContext& context = job_.coordinator;
  const std::uint32_t number = bucket.bucket().index;
  const std::uint32_t stage = bucket.stage();
  const std::uint32_t contributors = bucket.contributors();
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    const RoundMember& member = round_.members()[i];
    if (!member.participates || !member.missed_stage || bucket.has(i)) continue;
    add_to_tally(round_.mechanisms.late, membership_.members()[i].agent_id);
  }
  admission_.stage_closed(number);
  if (Status status = bucket.close(round_.plan().wire().quorum); !status.ok()) {
    context.note(LogLevel::error, "stage_failed", name(status.code()),
                 fmt::format("bucket {}", number), status.text(), key());
  }
  // A payload of a closed stage goes to all participants at once. The streams of all sessions share
  // its bytes.
  if (bucket.stage() == stage) return;  // dropped: no result exists
  if (bucket.open()) grace_.opened(number, context.now);
  const SharedBytes payload = bucket.combined().back();
  for (std::uint32_t i = 0; i < round_.members().size(); ++i) {
    AgentSession* const session = round_.members()[i].participates ? session_of(i) : nullptr;
    if (!session) continue;
    count_sent(stream_aggregate(context, *session,
                                {.key = key(),
                                 .bucket = number,
                                 .stage = stage,
                                 .contributors = contributors,
                                 .payload = payload},
                                0));
  }
  admission_.call_waiting();
}

// A member contributed if it is part of every bucket that has a result. One bucket too late makes
// the member a straggler, since the round had to close without it.
void Attempt::record_late(Stragglers& stragglers) const {
  const TimeNs now = job_.coordinator.now;
  const TimeNs took = now - round_.began_at_ns;
  stragglers.ended(key().round, patient_ ? 0 : now + grace_rule(job_.policy()).of(took));
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    const RoundMember& member = round_.members()[i];
    if (!member.participates) continue;
    const std::string& agent_id = membership_.members()[i].agent_id;
    const bool contributed = std::ranges::all_of(round_.buckets(), [i](const auto& bucket) {
      return !bucket->finished() || bucket->in_result().test(i);
    });
    if (contributed) {
      stragglers.contributed(agent_id, member.trained_round, member.last_part_at_ns);
    } else if (member.missed_stage) {
      stragglers.missed(agent_id, *member.missed_stage, patient_);
    }
  }
}

void Attempt::record_missed(Stragglers& stragglers) const {
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    const RoundMember& member = round_.members()[i];
    if (!member.participates || !member.missed_stage) continue;
    stragglers.missed(membership_.members()[i].agent_id, *member.missed_stage, patient_);
  }
}

// --- by peers ----------------------------------------------------------------------------------

void Attempt::ask_for_segments(std::uint32_t of, AgentSession& session) {
  for_missing_segments(round_, of,
                       [&](std::uint32_t bucket, std::uint32_t stage, std::uint32_t segment) {
                         admission_.ask_for_segment(session, bucket, stage, segment);
                       });
}

// A member that has left after its report is part of the results, and all members that have
// reported hold its segments. Returns false if the attempt cannot end any more. While the other
// members have yet to report, their deadline is that of the attempt.
bool Attempt::replace(std::uint32_t member) {
  if (!round_.plan().wire().divides_results) return false;
  RoundMember& lost = round_.members()[member];
  if (lost.replaced_by && round_.members()[*lost.replaced_by].present()) return true;
  lost.replaced_by.reset();
  const auto count = static_cast<std::uint32_t>(membership_.size());
  bool some_present = false;
  for (std::uint32_t i = 1; i < count; ++i) {
    const std::uint32_t other = (member + i) % count;
    AgentSession* const session = session_of(other);
    if (!round_.members()[other].present() || !session) continue;
    some_present = true;
    if (round_.members()[other].results_hash != lost.results_hash) continue;
    lost.replaced_by = other;
    ask_for_segments(member, *session);
    return true;
  }
  return some_present;
}

std::string Attempt::without_result() const {
  std::string names;
  for (std::uint32_t i = 0; i < membership_.size() && names.size() < kNamesBytesMax; ++i) {
    const RoundMember& member = round_.members()[i];
    if (!member.participates || (member.results_hash != 0 && uploaded(round_, i))) continue;
    names += (names.empty() ? "" : ", ") + membership_.members()[i].agent_id;
  }
  return names;
}

// A member that has reported may lose its session: it is done, or another one sends the rest.
bool Attempt::some_failed() {
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    const RoundMember& member = round_.members()[i];
    if (!member.participates) continue;
    if (member.withdrawn) return true;
    if (member.session != 0) continue;
    if (member.results_hash == 0 || (!uploaded(round_, i) && !replace(i))) return true;
  }
  return std::ranges::any_of(
      round_.buckets(), [](const auto& bucket) { return !bucket->open() && !bucket->finished(); });
}

// With sums in the network the coordinator combines the stages before the last, and buckets that
// the aggregator does not add. Requires that no member has failed, so that all of them are in each
// stage.
void Attempt::close_stages_of_all() {
  for (const auto& bucket : round_.buckets()) {
    while (bucket->open() && round_.plan().by_coordinator(bucket->bucket(), bucket->stage()) &&
           round_.complete(*bucket)) {
      close_stage(*bucket);
    }
  }
}

std::optional<Attempt::End> Attempt::close_if_agreed() {
  if (!results_.complete() || round_.any_open()) return std::nullopt;
  if (!results_.agree()) return End{.reason = wire::AbortReason::mismatch};
  return ending();
}

// --- giving up ---------------------------------------------------------------------------------

// Returns the members that sent nothing at all, for the next attempt to leave out. If none
// sent anything, no member is left out.
Bitmap Attempt::give_up(wire::AbortReason reason) {
  CoordinatorContext& context = job_.coordinator;
  context.note(LogLevel::warning, "round_aborted", wire::EnumNameAbortReason(reason), {},
               "an attempt at " + text(key()) + " was given up", key());
  Bitmap silent(membership_.size());
  bool any_part_arrived = false;
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    const RoundMember& member = round_.members()[i];
    any_part_arrived |= member.part_arrived;
    if (!member.part_arrived && member.participates) silent.set(i);
    AgentSession* const session = member.participates ? session_of(i) : nullptr;
    if (!session) continue;
    session->conversation.ask(
        context.now,
        [key = key(), reason] {
          wire::AbortT abort;
          abort.id = std::make_unique<wire::RoundId>(wire_id(key));
          abort.first_round = key.round;
          abort.reason = reason;
          return frame_with(std::move(abort));
        },
        context.out, key().round);
  }
  // The aggregators keep the residual that they had before the attempt.
  for (const auto& bucket : round_.buckets()) bucket->settle(false);
  return any_part_arrived ? silent : Bitmap();
}

}  // namespace tributary
