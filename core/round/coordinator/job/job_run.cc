#include "core/round/coordinator/job/job_run.h"

#include <algorithm>
#include <utility>

#include "core/round/common/plan/mechanisms.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

// Uploads that go on after their stages have closed may take as much memory as the model, so that
// one agent's contribution always fits, and this part of that for incomplete payloads.
constexpr std::uint64_t kCarriedShare = 4;

bool has_ended(wire::JobState state) {
  return state == wire::JobState::finished || state == wire::JobState::stopped;
}

std::uint64_t carried_budget(const CoordinatorConfig& config, const JobModel& job) {
  return job.values() * sizeof(float) + config.incoming_bytes_max / kCarriedShare;
}

std::uint64_t redo_budget(const CoordinatorConfig& config, const JobModel& job) {
  return static_cast<std::uint64_t>(config.redo_models * static_cast<double>(job.values()) *
                                    sizeof(float));
}

}  // namespace

JobRun::JobRun(CoordinatorContext& context, std::shared_ptr<const JobModel> job, RestoredJob& state)
    : job_{.coordinator = context, .record = std::move(state.job), .model = std::move(job)},
      committed_(redo_budget(context.config, *job_.model), context.config.history_rounds_max,
                 context.config.redo_bytes_in_memory_max),
      commits_(job_, committed_),
      membership_(job_, state.last_epoch),
      collectives_(job_),
      advice_(job_),
      faults_(job_, membership_),
      catch_up_(job_, committed_),
      reporter_(job_),
      carried_(carried_budget(context.config, *job_.model)) {}

Result<std::unique_ptr<JobRun>> JobRun::make(CoordinatorContext& context, RestoredJob state) {
  TRIBUTARY_TRY(check(state.job.policy));
  TRIBUTARY_ASSIGN(std::shared_ptr<const JobModel> job, JobModel::make(state.job.definition));
  std::unique_ptr<JobRun> run(new JobRun(context, std::move(job), state));
  for (const EpochRecord& epoch : state.epochs) run->membership_.saw_epoch(epoch.epoch);
  TRIBUTARY_TRY(run->commits_.restore(state));
  TRIBUTARY_TRY(run->faults_.restore(state.facts));
  if (has_ended(run->record().state)) run->phase_ = Phase::over;
  return run;
}

std::uint64_t JobRun::buffered_bytes() const {
  return committed_.history().bytes_in_memory() + catch_up_.bytes_read() +
         (attempt_ ? attempt_->bytes() : 0);
}

void JobRun::loaded(const RoundLoaded& event) {
  const std::uint64_t bytes = catch_up_.loaded(event);
  if (attempt_) attempt_->count_sent(bytes);
}

bool JobRun::over() const { return phase_ == Phase::over && state_stored_; }

JobView JobRun::view() const {
  const wire::Job& job = job_.model->wire();
  return {.job = job_.id(),
          .name = job.name()->str(),
          .state = job_.record.state,
          .rounds = job.rounds(),
          .rounds_committed = committed_.version()};
}

// The largest bucket that the policy or the planner's current decision allows. It may exceed
// bucket_values_max, because codecs of whole layers do not divide a layer.
UploadBudget JobRun::budget() const {
  const std::uint64_t values =
      std::max(std::min(job_.model->values(), job_.policy().bucket_values_max),
               bucket_values_bound(*job_.model, advice_.policy(), job_.coordinator.cache));
  return {job_.coordinator.config, membership_.size(), values};
}

// --- waiting, opening --------------------------------------------------------------------------

bool JobRun::waits_for_catching_up() const {
  const TimeNs wait = job_.policy().catch_up_wait_ms * kNsPerMs;
  return wait > 0 && job_.coordinator.now < waiting_since_ns_ + wait &&
         membership_.some_catch_up(committed_.version(), [this](const std::string& agent_id) {
           return carried_.is_sending(agent_id);
         });
}

// Called after every event that may end the waiting. It does nothing unless all conditions for a
// round hold.
void JobRun::maybe_begin() {
  const TimeNs now = job_.coordinator.now;
  if (phase_ == Phase::backing_off && now >= retry_.resume_at_ns()) phase_ = Phase::waiting;
  if (phase_ != Phase::waiting || !job_.running()) return;
  if (committed_.version() >= job_.model->wire().rounds()) {
    return change(wire::JobState::finished, "all rounds are done", {});
  }
  if (membership_.ready_agents(committed_.version()) < job_.policy().agents_min) return;
  if (waiting_since_ns_ < 0) waiting_since_ns_ = now;
  if (waits_for_catching_up()) return;
  if (membership_.changed(committed_.version()) || collectives_.needs_epoch(next_round())) {
    open_epoch();
  } else {
    begin_attempt();
  }
}

// The epoch is stored before its first round: a restart must be able to name the members of every
// round that an agent may ask about.
void JobRun::open_epoch() {
  membership_.open(next_round());
  carried_.keep_only([this](const std::string& agent_id) {
    return job_.coordinator.roster.by_agent(agent_id) != nullptr;
  });
  retry_.epoch_opened();
  collectives_.open(membership_);
  phase_ = Phase::opening;
  job_.coordinator.store.push(*membership_.epoch(), [this] {
    committed_.history().add_epoch(membership_.epoch());
    membership_.announce(collectives_.peer_session());
    if (phase_ != Phase::opening) return;  // stopped while the epoch was stored
    phase_ = Phase::waiting;
    if (job_.running()) begin_attempt();
  });
}

// --- running -----------------------------------------------------------------------------------

void JobRun::begin_attempt() {
  NetworkPolicy& network = collectives_.network();
  const Bitmap participants = faults_.participants(next_round());
  if (participants.count() > 0) network.prepare(advice_.policy(), membership_, participants);
  // The aggregator's answer continues here, or a tick.
  if (network.waits(next_round())) return;
  // An exclusion holds for one attempt.
  membership_.exclude(Bitmap());
  if (participants.count() == 0) return;
  // A decision of the planner that leads to no valid plan is dropped, and the job's own policy is
  // used. Only if that fails too is the job paused.
  Status status = start_attempt(participants);
  if (!status.ok() && advice_.advised()) {
    advice_.refuse(status, next_round());
    status = start_attempt(participants);
  }
  if (!status.ok()) {
    job_.coordinator.note(LogLevel::error, "plan_failed", name(status.code()), {}, status.text(),
                          {.job = job_.id(), .round = next_round()});
    change(wire::JobState::paused, "no plan can be made: " + status.text(), {});
  }
}

// Choices that depend on the state of the federation are made here; build_plan() is a pure function
// of this request, the job and the policy.
PlanRequest JobRun::request_plan(const Bitmap& participants) {
  const UploadBudget uploads = budget();
  std::string reason = "as the job's policy says";
  const Bitmap prompt = membership_.without_late(participants);
  const bool some_late = prompt.count() < participants.count();
  const wire::Collective collective = collectives_.choose(
      advice_.policy(), {.prompt = prompt.count(), .some_late = some_late}, next_round(), reason);
  PlanRequest request{
      .key = {.job = job_.id(),
              .round = next_round(),
              .epoch = membership_.epoch_number(),
              .attempt = retry_.attempt()},
      .model_hash = committed_.hash(),
      // All participants are in every result of an exchange among members, so a late one cannot be.
      .participants = collective == wire::Collective::star ? participants : prompt,
      .weights = membership_.weights(),
      .payload_bytes = uploads.part_bytes(),
      .payloads_in_flight_max = uploads.called() ? 0 : uploads.window(),
      .collective = collective,
      .exchanges_per_round = CollectivePolicy::exchanges(advice_.policy(), collective),
      .standalone = membership_.decode_standalone(),
      .divides_results = membership_.divide_results(),
      .deadline_ms = collectives_.deadline_ms(collective, next_round()),
      .trigger = retry_.attempt() > 0 ? wire::Trigger::after_abort : wire::Trigger::unchanged,
      .reason = std::move(reason)};
  if (collective == wire::Collective::in_network) {
    NetworkPolicy::Epoch epoch = collectives_.network().epoch();
    request.aggregator = std::move(epoch.aggregator);
    request.sums = epoch.sums;
  }
  advice_.complete(request, membership_);
  return request;
}

Status JobRun::start_attempt(const Bitmap& participants) {
  CodecCache& codecs = job_.coordinator.cache;
  const PlanRequest request = request_plan(participants);
  TRIBUTARY_ASSIGN(const wire::PlanT wire_plan,
                   build_plan(*job_.model, advice_.policy(), codecs, request));
  TRIBUTARY_ASSIGN(auto plan, RoundPlan::make(wire_plan, *job_.model, codecs));
  const std::span<float> residual = commits_.aggregator_residual(*plan);
  TRIBUTARY_ASSIGN(attempt_, Attempt::make(job_, membership_, reporter_.repeats(), carried_,
                                           {.plan = std::move(plan),
                                            .participants = request.participants,
                                            .deadline_ms = request.deadline_ms,
                                            .budget = budget(),
                                            .residual = residual,
                                            .start = commits_.start()}));
  phase_ = Phase::running;
  attempt_->send_plan_to_all();
  return {};
}

void JobRun::progress() {
  if (phase_ != Phase::running) return;
  if (const std::optional<Attempt::End> ended = attempt_->close_complete()) end(*ended);
}

void JobRun::end(const Attempt::End& end) {
  if (end.finished) {
    attempt_->record_late(membership_.stragglers());
    // The actions of this event send the last result. They need not wait for the commit.
    phase_ = Phase::ending;
    if (attempt_->round().plan().by_members()) commit();
  } else {
    if (end.some_late) attempt_->record_missed(membership_.stragglers());
    give_up(end.reason, true, end.some_late);
  }
}

void JobRun::commit() {
  wire::RoundMechanismsT& mechanisms = attempt_->round().mechanisms;
  mechanisms.fallbacks = retry_.fallbacks();
  mechanisms.sums_refused = retry_.sums_refused();
  mechanisms.trials = reporter_.take_trials();
  if (const std::string& fusion = advice_.policy().fusion; !fusion.empty()) {
    add_to_tally(mechanisms.fused, fusion, fused_buckets(*job_.model, attempt_->round().plan()));
  }
  faults_.count(attempt_->round());
  catch_up_.add_facts(mechanisms);
  const bool written = commits_.write(attempt_->round(), membership_, reporter_.reports(),
                                      [this](const RoundRecord& record) { committed(record); });
  if (!written) return give_up(wire::AbortReason::not_finite, true);
  catch_up_.facts_stored();
  phase_ = Phase::committing;
}

// Called when the record is stored. Everything that was held back until then follows: readings, the
// planner's report, commits to agents, and the next round.
void JobRun::committed(const RoundRecord& record) {
  const ActiveRound& round = attempt_->round();
  faults_.committed(record, round.plan());
  reporter_.report_commit(record, round);
  for (const auto& [agent, s_per_byte] : reporter_.downlinks()) {
    advice_.saw_downlink(agent, s_per_byte);
  }
  advice_.report_commit(
      record, round, membership_,
      {.peers = collectives_.peers_reachable(next_round()),
       .aggregator = collectives_.network().reachable(membership_, next_round())});
  catch_up_.model_replaced();
  collectives_.succeeded(round.plan());
  attempt_.reset();
  retry_.committed();
  if (phase_ == Phase::committing) phase_ = Phase::waiting;
  if (phase_ == Phase::waiting && advice_.pause_s() > 0) {
    phase_ = Phase::backing_off;
    retry_.resume_at(job_.coordinator.now + static_cast<TimeNs>(advice_.pause_s() * 1e9));
  }
  waiting_since_ns_ = job_.coordinator.now;
  catch_up_.advance_all();
  reporter_.report_bytes(record.id.round);
  maybe_begin();
}

// `retry` is false if an operator ends the job. Only failures count for the policies that look for
// a cause.
void JobRun::give_up(wire::AbortReason reason, bool retry, bool some_late) {
  const std::unique_ptr<Attempt> ended = std::move(attempt_);
  commits_.forget();
  const TimeNs now = job_.coordinator.now;
  membership_.exclude(ended->give_up(reason));
  retry_.failed(now, job_.policy().retry_after_ms);
  if (ended->round().plan().by_members() && retry) {
    // The next attempt is due at once: by the star with all members, or without the late ones.
    if (some_late) {
      collectives_.left_some_out();
    } else {
      collectives_.failed(ended->round().plan());
      retry_.fell_back();
    }
    if (ended->round().plan().in_network() && reason == wire::AbortReason::mismatch) {
      retry_.refused_sums();
    }
    membership_.exclude(Bitmap());
    retry_.resume_at(now);
  }
  phase_ = Phase::backing_off;
  if (retry) {
    const bool diverged = faults_.gave_up(ended->round());
    // The next attempt has other participants, so it does not wait.
    if (reason == wire::AbortReason::not_finite && faults_.searching()) retry_.resume_at(now);
    if (diverged && job_.running()) change(wire::JobState::stopped, "model_not_finite", {});
  }
  // An attempt sends its updates anew, so over the same uplinks it ends in the same way. A download
  // continues in the next attempt, so a slow downlink does not pause the job. For a planned job,
  // the planner may choose a smaller codec instead.
  const auto verdict = reason == wire::AbortReason::no_quorum ? ended->too_short()
                                                              : std::optional<DeadlineVerdict>();
  const bool uplink = verdict && verdict->link == SlowLink::uplink;
  if (retry_.count_too_short(uplink) && !job_.policy().planning.planned() && job_.running()) {
    change(wire::JobState::paused, verdict->text(ended->key().round), {});
  }
}

// --- the job's own state -----------------------------------------------------------------------

void JobRun::advise(std::shared_ptr<const PlanAdvice> advice) {
  advice_.advise(std::move(advice), next_round());
}

// The new state is effective at once for this machine and announced to agents after it is stored. A
// round that is being committed still completes.
void JobRun::change(wire::JobState state, std::string reason, std::function<void()> done) {
  if (has_ended(state)) {
    if (phase_ == Phase::running || phase_ == Phase::ending) {
      give_up(wire::AbortReason::by_operator, false);
    }
    phase_ = Phase::over;
    collectives_.network().end();
  }
  retry_.forget_too_short();
  JobRecord& record = job_.record;
  record.state = state;
  if (reason.size() > wire::kTextBytesMax) reason.resize(wire::kTextBytesMax);
  record.state_reason = std::move(reason);
  ++record.change;
  state_stored_ = false;
  job_.coordinator.store.push(record, [this, change = record.change, done = std::move(done)] {
    // A later change may be waiting in the queue already.
    state_stored_ = change == job_.record.change;
    for (const auto& [number, session] : job_.coordinator.roster.all()) {
      if (session->job == job_.id()) catch_up_.send_state(*session);
    }
    if (done) done();
    maybe_begin();
  });
}

void JobRun::tick() {
  catch_up_.read_again();
  catch_up_.offer_to_waiting();
  if (phase_ == Phase::ending) commit();
  if (phase_ == Phase::running) {
    if (commits_.has_next(attempt_->round())) commits_.apply_next(attempt_->round(), membership_);
    attempt_->check_deadline();
    if (const std::optional<Attempt::End> ended = attempt_->close_overdue()) end(*ended);
  }
  maybe_begin();
}

TimeNs JobRun::next_due_ns() const {
  TimeNs due = catch_up_.next_due_ns();
  const TimeNs wait = job_.policy().catch_up_wait_ms * kNsPerMs;
  if (phase_ == Phase::waiting && collectives_.network().wait_ends_ns() > job_.coordinator.now) {
    due = std::min(due, collectives_.network().wait_ends_ns());
  }
  if (phase_ == Phase::ending) due = job_.coordinator.now;
  if (phase_ == Phase::running) {
    due = std::min(due, attempt_->next_due_ns());
    if (commits_.has_next(attempt_->round())) due = job_.coordinator.now;
  } else if (phase_ == Phase::backing_off) {
    due = std::min(due, retry_.resume_at_ns());
  } else if (phase_ == Phase::waiting && wait > 0 && waiting_since_ns_ >= 0) {
    const TimeNs begin = waiting_since_ns_ + wait;
    if (begin > job_.coordinator.now) due = std::min(due, begin);
  }
  return due;
}

}  // namespace tributary
