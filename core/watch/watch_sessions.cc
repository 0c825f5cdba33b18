#include "core/watch/watch_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tributary {
namespace {

Status too_many(std::string_view doing, std::uint32_t sessions_max) {
  return Status(StatusCode::resource_exhausted,
                {.what = fmt::format("{} this coordinator", doing),
                 .expected = fmt::format("at most {} at once", sessions_max),
                 .got = "one more",
                 .remedy = "close another connection"});
}

Status no_operator(const std::string& id) {
  return Status(
      StatusCode::permission_denied,
      {.what = "a question of an operator",
       .expected = "an observer that the coordinator's setting watch.operators names",
       .got = id.empty() ? "an observer without an id" : fmt::format("'{}'", id),
       .remedy =
           "add this id to watch.operators, or use 'tributary job' on the coordinator's machine"});
}

Status operators_busy() {
  return Status(StatusCode::resource_exhausted,
                {.what = "a question of an operator",
                 .expected = "one question at a time",
                 .got = "a second question",
                 .remedy = "ask again after the answer to the first"});
}

}  // namespace

// Queues a refusal unless too many wait. It must not need a session, because it may be the reason
// why none exists.
void WatchSessions::refuse(ConnectionId to, std::uint64_t number, Status why) {
  ++counts_.refused;
  if (refusals_.size() >= kRefusalsMax) return;
  Result<Bytes> bytes = pack_answer({.number = number, .body = std::move(why)});
  if (bytes.ok()) refusals_.push_back({.to = to, .bytes = *std::move(bytes)});
}

bool WatchSessions::may_operate(const std::string& id) const {
  return !id.empty() && std::ranges::find(parts_.operators, id) != parts_.operators.end();
}

std::size_t WatchSessions::sessions_of(Place place) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      sessions_, [place](const auto& item) { return item.second.place == place; }));
}

// Returns true if a place is free, or if one becomes free because its session has been silent for
// too long.
bool WatchSessions::free_place(Place place, std::chrono::nanoseconds now) {
  if (sessions_of(place) < parts_.sessions_max) return true;
  auto silent = sessions_.end();
  for (auto session = sessions_.begin(); session != sessions_.end(); ++session) {
    if (session->second.place != place) continue;
    if (silent == sessions_.end() || session->second.asked_at < silent->second.asked_at)
      silent = session;
  }
  if (silent == sessions_.end() || now - silent->second.asked_at < kSilentMax) return false;
  sessions_.erase(silent);
  return true;
}

// Returns the session of the connection, with the kind of place that the question needs. A sender
// that is not an operator gets no operator's place, so that it cannot take the places away from
// operators.
Result<WatchSessions::Session*> WatchSessions::session_of(ConnectionId from, const std::string& id,
                                                          const WatchQuestion& question,
                                                          std::chrono::nanoseconds now) {
  const Place place =
      std::holds_alternative<OperatorQuestion>(question.body) ? Place::operators : Place::watcher;
  auto found = sessions_.find(from);
  const bool is_there = found != sessions_.end();
  if (is_there && (place == Place::operators || found->second.place == place)) {
    return &found->second;
  }
  if (place == Place::operators && !may_operate(id)) return no_operator(id);
  if (!free_place(place, now)) {
    return too_many(place == Place::watcher ? "watching" : "operating", parts_.sessions_max);
  }
  Session& session = sessions_[from];
  session.place = place;
  return &session;
}

// Question 0 in an answer refers to a question whose number could not be read.
void WatchSessions::take(ConnectionId from, const std::string& id, ByteSpan bytes,
                         std::chrono::nanoseconds now) {
  Result<WatchQuestion> question = unpack_question(bytes);
  if (!question.ok()) return refuse(from, 0, question.status());
  Result<Session*> found = session_of(from, id, *question, now);
  if (!found.ok()) return refuse(from, question->number, found.status());
  Session& session = **found;
  session.id = id;
  session.asked_at = now;
  // The question is dropped without an answer, as the header explains.
  if (session.questions.size() >= kQuestionsMax) {
    ++counts_.refused;
    return;
  }
  ++counts_.questions;
  session.questions.push_back(*std::move(question));
}

void WatchSessions::operator_answered(ConnectionId connection, std::uint64_t number,
                                      std::string json) {
  const auto found = sessions_.find(connection);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  // The answer belongs to a question of an earlier session on this connection.
  if (!session.operator_asked || session.operator_number != number) return;
  session.operator_asked = false;
  session.answered = WatchAnswer{.number = number, .body = OperatorAnswer{std::move(json)}};
}

bool WatchSessions::has_work(const MaySend& may_send) const {
  return !refusals_.empty() || std::ranges::any_of(sessions_, [&](const auto& item) {
    return is_ready(item.second) && may_send(item.first);
  });
}

// Refusals and sessions take turns, so that a client which is refused repeatedly does not delay
// others.
std::optional<WatchSessions::Answer> WatchSessions::next(const MaySend& may_send) {
  refusals_turn_ = !refusals_turn_;
  std::optional<Answer> answer = refusals_turn_ ? next_refusal() : next_of_sessions(may_send);
  if (answer) return answer;
  return refusals_turn_ ? next_of_sessions(may_send) : next_refusal();
}

std::optional<WatchSessions::Answer> WatchSessions::next_refusal() {
  if (refusals_.empty()) return std::nullopt;
  Answer refusal = std::move(refusals_.front());
  refusals_.pop_front();
  return refusal;
}

// Continues after the session that was served last, so that each gets its turn.
std::optional<WatchSessions::Answer> WatchSessions::next_of_sessions(const MaySend& may_send) {
  const auto can_go_on = [&](const auto& item) {
    return is_ready(item.second) && may_send(item.first);
  };
  const auto after_last = sessions_.upper_bound(last_served_);
  auto turn = std::find_if(after_last, sessions_.end(), can_go_on);
  if (turn == sessions_.end()) turn = std::find_if(sessions_.begin(), after_last, can_go_on);
  if (turn == sessions_.end() || !can_go_on(*turn)) return std::nullopt;
  last_served_ = turn->first;
  std::optional<WatchAnswer> answered = answer(turn->first, turn->second);
  if (!answered) return std::nullopt;
  Result<Bytes> bytes = pack_answer(*answered);
  if (!bytes.ok()) {
    // The rows of the failed portion are lost, so the run must be read from the beginning.
    if (std::holds_alternative<WatchPortion>(answered->body)) turn->second.run.reset();
    bytes = pack_answer({.number = answered->number, .body = bytes.status()});
    if (!bytes.ok()) return std::nullopt;
  }
  return Answer{.to = turn->first, .bytes = *std::move(bytes)};
}

// The answer to an operator's question is sent before the next question is processed.
std::optional<WatchAnswer> WatchSessions::answer(ConnectionId from, Session& session) {
  if (session.answered) return std::exchange(session.answered, std::nullopt);
  WatchQuestion question = std::move(session.questions.front());
  session.questions.pop_front();
  if (const auto* asked = std::get_if<PullQuestion>(&question.body)) {
    return pull(session, question.number, *asked);
  }
  if (const auto* asked = std::get_if<RoundQuestion>(&question.body)) {
    return round(session, question.number, *asked);
  }
  return ask(from, session, question.number, std::get<OperatorQuestion>(question.body));
}

// One step of the session's reader. An error of the reader is part of the portion and does not end
// the session.
WatchAnswer WatchSessions::pull(Session& session, std::uint64_t number, const PullQuestion& asked) {
  if (asked.afresh) session.run.reset();
  if (!session.run) {
    session.run = parts_.open_run();
    session.is_new = true;
  }
  WatchPortion portion;
  const Result<bool> more = session.run->step(portion.changes);
  portion.first = std::exchange(session.is_new, false);
  portion.more = more.ok() && *more;
  portion.trouble = more.status();
  return {.number = number, .body = std::move(portion)};
}

WatchAnswer WatchSessions::round(Session& session, std::uint64_t number,
                                 const RoundQuestion& asked) {
  Result<RoundDetail> detail =
      session.run
          ? session.run->round_detail(asked.job, asked.round)
          : Status(StatusCode::unavailable, {.what = fmt::format("round {}", asked.round),
                                             .expected = "a run that has been read",
                                             .got = "none yet",
                                             .remedy = "ask for a portion of the run first"});
  if (!detail.ok()) return {.number = number, .body = detail.status()};
  return {.number = number, .body = *std::move(detail)};
}

// A session may have one operator's question in progress.
std::optional<WatchAnswer> WatchSessions::ask(ConnectionId from, Session& session,
                                              std::uint64_t number, OperatorQuestion& asked) {
  if (!may_operate(session.id)) {
    return WatchAnswer{.number = number, .body = no_operator(session.id)};
  }
  if (session.operator_asked || !parts_.ask_operator(from, number, std::move(asked.json))) {
    return WatchAnswer{.number = number, .body = operators_busy()};
  }
  session.operator_asked = true;
  session.operator_number = number;
  return std::nullopt;
}

}  // namespace tributary
