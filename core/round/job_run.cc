#include "core/round/job_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/random.h"
#include "core/round/residual_account.h"

namespace tributary {
std::uint64_t JobRun::buffered_bytes() const {
  std::uint64_t bytes = history_.bytes();
  if (round_) bytes += round_->bytes();
  return bytes;
}

bool JobRun::over() const { return phase_ == Phase::over && state_stored_; }

Coordinator::JobView JobRun::view() const {
  const wire::Job& job = job_->wire();
  return {.job = record_.job,
          .name = job.name()->str(),
          .state = record_.state,
          .rounds = job.rounds(),
          .rounds_committed = version_};
}

bool JobRun::wants(const std::string& agent_id) const {
  const std::vector<std::string>& agents = record_.policy.agents;
  return agents.empty() || std::ranges::find(agents, agent_id) != agents.end();
}

// --- waiting, opening --------------------------------------------------------------------------

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
  if (peers_.renew || (peers_.broken && version_ + 1 >= peers_.from_round)) return true;
  const std::uint64_t most = most_examples();
  for (const EpochMember& member : members_) {
    if (member.weight != weight_of(member.agent_id, most)) return true;
  }
  return std::ranges::any_of(desk_.roster.all(), [&](const auto& item) {
    const AgentSession& session = *item.second;
    if (!ready(session)) return false;
    const std::optional<std::uint32_t> member = member_of(session);
    return !member || members_[*member].generation != session.generation;
  });
}

// How much an agent's update counts: by its examples as it last reported them, in proportion to
// whoever has most; like everybody before it has reported, or where the job does not ask.
double JobRun::weight_of(const std::string& agent_id, std::uint64_t most) const {
  const auto found = examples_.find(agent_id);
  if (found == examples_.end() || found->second == 0) return 1;
  return static_cast<double>(found->second) / static_cast<double>(std::max(most, found->second));
}

std::uint64_t JobRun::most_examples() const {
  std::uint64_t most = 0;
  for (const auto& [number, session] : desk_.roster.all()) {
    const auto found = examples_.find(session->agent_id);
    if (session->job == record_.job && found != examples_.end()) {
      most = std::max(most, found->second);
    }
  }
  return most;
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
  const std::uint64_t most = most_examples();
  for (const auto& [agent_id, session] : by_name) {
    member_by_agent_[agent_id] = static_cast<std::uint32_t>(members_.size());
    members_.push_back({.agent_id = agent_id,
                        .incarnation = session->incarnation,
                        .session = session->conversation.session(),
                        .generation = session->generation,
                        .weight = weight_of(agent_id, most),
                        .public_key = session->public_key,
                        .endpoint = session->endpoint});
    record->members.push_back({.agent_id = agent_id, .weight = members_.back().weight});
  }
  attempt_ = 0;
  excluded_ = Bitmap();
  open_peers();
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
  std::vector<EpochMember> peers;
  if (peers_.session != 0) peers = members_;
  session.conversation.ask(
      desk_.now,
      [epoch = epoch_, member, weight = members_[member].weight, weight_sum,
       peers = std::move(peers), peer_session = peers_.session] {
        wire::MembershipT membership;
        membership.job = epoch->job;
        membership.epoch = epoch->epoch;
        membership.first_round = epoch->first_round;
        membership.agents = static_cast<std::uint32_t>(epoch->members.size());
        membership.agent_index = member;
        membership.weight = weight;
        membership.weight_sum = weight_sum;
        membership.peer_session = peer_session;
        for (const EpochMember& peer : peers) {
          auto one = std::make_unique<wire::MemberT>();
          one->agent_id = peer.agent_id;
          one->weight = peer.weight;
          one->public_key.assign(peer.public_key.begin(), peer.public_key.end());
          one->endpoints.push_back(std::make_unique<wire::EndpointT>());
          one->endpoints[0]->address = peer.endpoint;
          membership.members.push_back(std::move(one));
        }
        return frame_with(std::move(membership));
      },
      desk_.out, epoch_->epoch);
}

// --- running -----------------------------------------------------------------------------------

Bitmap JobRun::choose_participants() const {
  Bitmap participants(members_.size());
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const auto found = desk_.roster.all().find(members_[i].session);
    if (found == desk_.roster.all().end() || !ready(*found->second)) continue;
    if (!excluded_.test(i)) participants.set(i);
  }
  return drawn_from(participants);
}

// A fraction of them, the same whenever the round is tried.
Bitmap JobRun::drawn_from(const Bitmap& candidates) const {
  const std::uint32_t count = candidates.count();
  const auto wanted =
      std::max(static_cast<std::uint32_t>(std::ceil(record_.policy.fraction * count)),
               record_.policy.agents_min);
  if (wanted >= count) return candidates;
  const StreamKey key = stream_key({.job_seed = job_->wire().seed(),
                                    .round = version_ + 1,
                                    .purpose = DrawPurpose::participants});
  std::vector<std::pair<std::uint32_t, std::uint32_t>> draws;
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    if (candidates.test(i)) draws.emplace_back(random_bits(key, i), i);
  }
  std::ranges::sort(draws);
  Bitmap drawn(candidates.size());
  for (std::uint32_t i = 0; i < wanted; ++i) drawn.set(draws[i].second);
  return drawn;
}

void JobRun::begin_attempt() {
  const Bitmap participants = choose_participants();
  excluded_ = Bitmap();
  if (participants.count() < record_.policy.agents_min) return;
  Status status = start_round(participants);
  if (!status.ok() && advice_) {
    refuse_advice(status);
    status = start_round(participants);
  }
  if (!status.ok()) {
    desk_.note(LogLevel::error, "plan_failed", name(status.code()), {}, status.text(),
               {.job = record_.job, .round = version_ + 1});
    round_.reset();
    change(wire::JobState::paused, "no plan can be made: " + status.text(), {});
  }
}

Status JobRun::start_round(const Bitmap& participants) {
  std::string reason = "as the job's policy says";
  const wire::Collective collective = collective_for(participants, reason);
  const std::uint32_t deadline_ms = attempt_deadline_ms(collective);
  PlanRequest request{
      .key = {.job = record_.job,
              .round = version_ + 1,
              .epoch = epoch_->epoch,
              .attempt = attempt_},
      .model_hash = model_hash_,
      .participants = participants,
      .weights = {},
      .payload_bytes = part_bytes(),
      .payloads_in_flight_max = called() ? 0 : window(),
      .collective = collective,
      .exchanges_per_round = exchanges_for(collective, reason),
      .deadline_ms = deadline_ms,
      .trigger = attempt_ > 0 ? wire::Trigger::after_abort : wire::Trigger::unchanged,
      .reason = std::move(reason)};
  for (const EpochMember& member : members_) request.weights.push_back(member.weight);
  plan_reason(request);
  plan_ratios(request);
  TRIBUTARY_ASSIGN(const wire::PlanT wire_plan, build_plan(*job_, policy(), desk_.shelf, request));
  TRIBUTARY_ASSIGN(auto plan, RoundPlan::make(wire_plan, *job_, desk_.shelf));
  const bool encodes_again = std::ranges::any_of(plan->buckets(), [&](const PlannedBucket& bucket) {
    return !plan->by_peers() && bucket.codec->aggregation() != Aggregation::sum &&
           bucket.keeps_error();
  });
  if (encodes_again && aggregator_residual_.empty()) {
    aggregator_residual_.assign(job_->values(), 0.0f);
  }
  const double old_rate = std::exchange(residual_rate_, wire_plan.learning_rate);
  if (job_->gradient()) rescale_residual(old_rate, residual_rate_, aggregator_residual_);

  std::vector<RoundMember> members;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    members.push_back({.session = members_[i].session, .participates = participants.test(i)});
  }
  round_ = std::make_unique<ActiveRound>(plan, std::move(members), incoming_bytes_max());
  TRIBUTARY_TRY(round_->begin(desk_.config.execution, aggregator_residual_));
  round_->began_at_ns = desk_.now;
  round_->deadline_ns = desk_.now + deadline_ms * kNsPerMs;
  if (!plan->by_peers()) {
    round_->preliminary_deadline_ns =
        desk_.now + std::min(record_.policy.preliminary_deadline_ms, deadline_ms) * kNsPerMs;
  }
  phase_ = Phase::running;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (!participants.test(i)) continue;
    AgentSession* session = desk_.roster.by_session(members_[i].session);
    if (session) send_plan(*session, plan, i);
  }
  if (waits_for_downlinks()) watch_deadline();
  return {};
}

// What the choice was made from, and from what, stays in the journal.
void JobRun::send_plan(AgentSession& session, const std::shared_ptr<const RoundPlan>& plan,
                       std::optional<std::uint32_t> member) {
  session.plan_sent = plan->key();
  session.conversation.ask(
      desk_.now,
      [plan, member, weight = member ? members_[*member].weight : 0] {
        wire::PlanT wire = plan->wire();
        wire.weight = weight;
        for (const auto& exchange : wire.exchanges) {
          if (member && !exchange->ratios.empty()) exchange->ratio = exchange->ratios[*member];
          exchange->ratios.clear();
        }
        wire.reason->inputs.clear();
        wire.reason->alternatives.clear();
        return frame_with(std::move(wire));
      },
      desk_.out, plan->key().round);
}

void JobRun::close_where_complete() {
  if (phase_ != Phase::running) return;
  if (round_->plan().by_peers()) return close_if_agreed();
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
  const SharedBytes payload = bucket.combined().back();
  for (const RoundMember& member : round_->members()) {
    if (!member.participates) continue;
    AgentSession* session = desk_.roster.by_session(member.session);
    if (!session) continue;
    send_aggregate(*session, round_->key(), number, stage, contributors, payload, 0);
  }
  call_waiting();
}

void JobRun::close_overdue() {
  if (phase_ != Phase::running) return;
  const bool over = desk_.now >= round_->deadline_ns;
  if (!over && desk_.now < round_->preliminary_deadline_ns) return;
  if (round_->plan().by_peers()) {
    desk_.note(LogLevel::warning, "exchange_overdue", "deadline", {},
               "no result from " + without_result(), round_->key());
    return give_up(wire::AbortReason::deadline, true);
  }
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
    give_up(wire::AbortReason::no_quorum, true);
  }
}

void JobRun::give_up(wire::AbortReason reason, bool retry) {
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
  resume_at_ns_ =
      desk_.now + (TimeNs{record_.policy.retry_after_ms} << std::min(attempt_, 5u)) * kNsPerMs;
  if (round_->plan().by_peers() && retry) peers_failed();
  const bool overdue = reason == wire::AbortReason::no_quorum && desk_.now >= round_->deadline_ns;
  const std::optional<DeadlineVerdict> verdict =
      overdue ? std::move(round_->too_short) : std::nullopt;
  round_.reset();
  ++attempt_;
  phase_ = Phase::backing_off;
  pause_if_too_short(key, verdict);
}

// --- the job's own state -----------------------------------------------------------------------

void JobRun::finish_if_done() {
  if (version_ < job_->wire().rounds() || phase_ == Phase::over) return;
  change(wire::JobState::finished, "all rounds are done", {});
}

void JobRun::change(wire::JobState state, std::string reason, std::function<void()> done) {
  const bool ends = state == wire::JobState::finished || state == wire::JobState::stopped;
  if (ends && round_ && phase_ == Phase::running) give_up(wire::AbortReason::by_operator, false);
  if (ends) phase_ = Phase::over;
  too_short_ = 0;
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
  offer_to_waiting();
  check_deadline();
  close_overdue();
  maybe_begin();
}

TimeNs JobRun::next_due_ns() const {
  switch (phase_) {
    case Phase::running:
      return std::min({round_->preliminary_deadline_ns, round_->deadline_ns, round_->check_at_ns});
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
