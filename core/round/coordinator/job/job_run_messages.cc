// The part of JobRun that handles sessions and the messages of agents.
#include <utility>

#include "core/round/coordinator/job/job_run.h"

namespace tributary {

// --- sessions ----------------------------------------------------------------------------------

wire::StandingT JobRun::standing(const AgentSession& session) const {
  return catch_up_.standing(session, membership_.epoch_number());
}

void JobRun::joined(AgentSession& session, std::uint64_t before) {
  // The order matters: greet() decides whether the agent has the job, resume() whether it is still
  // a member, and begin() sends what it lacks after the membership and the plan.
  catch_up_.greet(session);
  // A process that returns over a new connection continues as the same member.
  if (const std::optional<std::uint32_t> member = membership_.resume(session, before)) {
    if (attempt_) attempt_->resume(session, *member);
    if (session.job == job_.id()) {
      membership_.announce_to(session, *member, collectives_.peer_session());
      if (attempt_) attempt_->send_plan_to(session, *member);
    }
  } else {
    carried_.forget(session.agent_id);
  }
  catch_up_.begin(session);
  maybe_begin();
}

void JobRun::left(AgentSession& session) {
  reporter_.count(session);
  reporter_.repeats().session_down += session.conversation.bulk().bytes_under_way();
  catch_up_.left(session);
  const std::optional<std::uint32_t> member = membership_.member_of(session);
  if (!attempt_ || !member) return;
  attempt_->lose(*member);
  progress();
}

// --- the aggregator in the network -------------------------------------------------------------

void JobRun::aggregator_changed(const AgentSession& session, const wire::EpochInstalled* answer) {
  NetworkPolicy& network = collectives_.network();
  if (answer) {
    network.receive(session, *answer);
    return maybe_begin();
  }
  const bool in_use = phase_ == Phase::running && attempt_->round().plan().in_network();
  if (!session.leaving) {
    // The participants so far are a guess at those of the next attempt.
    const Bitmap participants =
        attempt_ ? attempt_->round().plan().participants() : Bitmap(membership_.size(), true);
    if (!over() && !in_use) network.prepare(advice_.policy(), membership_, participants);
    return;
  }
  if (!network.left(session) || !in_use) return;
  // Agents would notice only by their deadline. The attempt goes on by the star at once.
  job_.coordinator.note(LogLevel::warning, "aggregator_gone", "in_network", session.agent_id,
                        "the attempt through it ends", attempt_->key());
  give_up(wire::AbortReason::collective_failed, true);
}

// --- answers -----------------------------------------------------------------------------------

void JobRun::answered(AgentSession& session, const Conversation::Asked& asked) {
  catch_up_.answered(session, asked);
  maybe_begin();
}

void JobRun::refused(AgentSession& session, const Conversation::Asked& asked,
                     const wire::Refusal& refusal) {
  const std::string text = refusal.what() ? refusal.what()->str() : std::string();
  job_.coordinator.note(LogLevel::warning, "agent_refused", wire::EnumNameMessage(asked.kind),
                        session.agent_id, text, {.job = job_.id(), .round = committed_.version()});
  catch_up_.refused(session, asked);
  // A refused plan takes the agent out of this attempt only. The tag is the round, so a late
  // refusal of an earlier plan has no effect.
  const bool plan = asked.kind == wire::Message::Plan;
  if (!plan || !attempt_ || asked.tag != attempt_->key().round) return;
  const std::optional<std::uint32_t> member = membership_.member_of(session);
  if (member) attempt_->refuse_plan(*member);
  progress();
}

// --- messages ----------------------------------------------------------------------------------

void JobRun::receive(AgentSession& session, const wire::Frame& frame, ByteSpan payload) {
  switch (frame.message_type()) {
    case wire::Message::Preliminary: {
      const auto& message = *frame.message_as_Preliminary();
      return receive_part(session, *message.part(),
                          {.sent_as = SentAs::preliminary, .agent_index = message.agent_index()},
                          payload);
    }
    case wire::Message::Update: {
      const auto& message = *frame.message_as_Update();
      // In a star every agent sends its own update.
      if (message.contributors() != 1) {
        return job_.coordinator.refuse(session, "mismatch",
                                       "a partial sum, which a star does not have");
      }
      return receive_part(session, *message.part(),
                          {.sent_as = SentAs::update,
                           .agent_index = message.agent_index(),
                           .trained_round = message.trained_round()},
                          payload);
    }
    case wire::Message::Aggregate: {
      const auto& message = *frame.message_as_Aggregate();
      if (message.agent_index() < 0) {
        return job_.coordinator.refuse(session, "mismatch", "a result without an agent");
      }
      return receive_part(session, *message.part(),
                          {.sent_as = SentAs::result,
                           .agent_index = static_cast<std::uint32_t>(message.agent_index())},
                          payload);
    }
    case wire::Message::Receipt:
      return receive_receipt(session, *frame.message_as_Receipt());
    case wire::Message::Report:
      return receive_report(session, *frame.message_as_Report());
    case wire::Message::Applied:
      if (!catch_up_.receive_applied(session, *frame.message_as_Applied())) return;
      commits_.free_past_results();
      return maybe_begin();
    case wire::Message::Abort:
      return receive_abort(session, *frame.message_as_Abort());
    case wire::Message::TransferRequest:
      return catch_up_.receive_request(session, *frame.message_as_TransferRequest());
    case wire::Message::TransferFetch:
      return catch_up_.receive_fetch(session, *frame.message_as_TransferFetch());
    default:
      return job_.coordinator.refuse(session, "not_allowed",
                                     wire::EnumNameMessage(frame.message_type()));
  }
}

void JobRun::receive_part(AgentSession& session, const wire::Part& part, const PartMessage& message,
                          ByteSpan payload) {
  const RoundKey key = key_of(*part.id());
  if (phase_ != Phase::running || attempt_->key() != key) {
    // The attempt may have ended while the part was in flight.
    if (carried_.take(session.agent_id, part, payload)) return;
    reporter_.repeats().late_up += payload.size();
    job_.coordinator.note(LogLevel::debug, "payload_late", "wrong_epoch", session.agent_id,
                          text(key), key);
    return;
  }
  if (!attempt_->receive_part(session, part, message, payload)) return;
  const std::optional<std::uint32_t> member = membership_.member_of(session);
  // A payload with numbers that cannot be added excludes its agent for some rounds. The attempt
  // goes on without it.
  const std::string fault =
      member ? std::exchange(attempt_->round().members()[*member].fault, {}) : std::string();
  if (!fault.empty()) {
    attempt_->withdraw(*member);
    faults_.exclude(*member, key, fault, true);
  }
  progress();
}

void JobRun::receive_receipt(AgentSession& session, const wire::Receipt& receipt) {
  if (receipt.waiting_bytes() > 0) {
    if (phase_ == Phase::running) attempt_->receive_announcement(session, receipt);
    return;
  }
  if (attempt_ && attempt_->key() == key_of(*receipt.id())) {
    return attempt_->send_missing(session, receipt);
  }
  const std::uint64_t bytes = catch_up_.send_missing(session, receipt);
  if (attempt_) attempt_->count_sent(bytes);
}

void JobRun::receive_report(AgentSession& session, const wire::Report& report) {
  const RoundKey key = key_of(*report.id());
  if (key.job != job_.id()) return;
  const std::optional<std::uint32_t> member = membership_.member_of(session);
  const bool current = member && attempt_ && attempt_->key() == key;
  // An agent that lost its session repeats the results hash of an exchange among peers. Such a
  // repeat is not counted as a second report.
  const bool repeated = current && attempt_->results().hash_of(*member) != 0;
  if (!repeated) {
    std::optional<double> ratio;
    if (current) ratio = ratio_of(attempt_->round().plan(), *member, job_.coordinator.cache);
    reporter_.keep(session, report, ratio);
  }
  // Also from a report for a round that is over: the number of examples belongs to the agent, not
  // to the round.
  membership_.count_examples(session.agent_id, report.examples());
  reporter_.read_metrics(session, report);
  if (!repeated) advice_.report_agent(session, report);
  if (current && report.results_hash() != 0) {
    attempt_->results().add(*member, report.results_hash(), report.sums_check());
    progress();
  }
  if (session.synced) {
    catch_up_.check_replica(session, report.model_version(), report.model_hash());
  }
}

void JobRun::receive_abort(AgentSession& session, const wire::Abort& abort) {
  const std::optional<std::uint32_t> member = membership_.member_of(session);
  if (!attempt_ || !member || key_of(*abort.id()) != attempt_->key()) return;
  job_.coordinator.note(LogLevel::warning, "agent_withdrew",
                        wire::EnumNameAbortReason(abort.reason()), session.agent_id,
                        abort.text() ? abort.text()->str() : std::string(), attempt_->key());
  attempt_->withdraw(*member);
  if (abort.reason() == wire::AbortReason::not_finite) {
    faults_.exclude(*member, attempt_->key(), abort.text() ? abort.text()->str() : std::string(),
                    false);
  }
  progress();
}

}  // namespace tributary
