#include "core/round/coordinator/commit/late_results.h"

#include <algorithm>
#include <string>

#include "core/round/common/plan/mechanisms.h"
#include "core/round/coordinator/context/aggregate_stream.h"

namespace tributary {

LateResults::Results LateResults::find(const Published& round, std::uint32_t bucket) const {
  if (round.in_memory) return round.combined.at(bucket);
  const auto found = being_sent_.find({round.record->id.round, bucket});
  if (found == being_sent_.end()) return {};
  Results results;
  for (const std::weak_ptr<const Bytes>& payload : found->second) {
    results.push_back(payload.lock());
    if (!results.back()) return {};
  }
  return results;
}

// An agent that lacks a stage also lacks the later ones.
std::uint64_t LateResults::stream(AgentSession& session, const Published& round, const Lack& lack,
                                  const Results& results) {
  std::uint64_t bytes = 0;
  for (std::uint32_t stage = lack.stage; stage < results.size(); ++stage) {
    bytes += stream_aggregate(job_.coordinator, session,
                              {.key = round.record->id,
                               .bucket = lack.bucket,
                               .stage = stage,
                               .contributors = round.contributors.at(lack.bucket),
                               .payload = results[stage]},
                              stage == lack.stage ? lack.from : 0);
  }
  if (!round.in_memory) add_to_tally(facts_.results_read_for, session.agent_id);
  return bytes;
}

bool LateResults::waits_for(const AgentSession& session, std::uint64_t round) const {
  return session.job == job_.id() && session.synced && session.transfer == 0 &&
         session.version + 1 == round;
}

std::uint64_t LateResults::send(AgentSession& session, const Published& round, const Lack& lack) {
  if (!round.contributors.contains(lack.bucket)) return 0;
  if (const Results results = find(round, lack.bucket); !results.empty()) {
    return stream(session, round, lack, results);
  }
  const std::uint64_t number = round.record->id.round;
  if (!waits_for(session, number)) return 0;
  waiting_[{number, lack.bucket}][session.conversation.session()] = lack;
  read_next();
  return 0;
}

// The oldest round first.
void LateResults::read_next() {
  if (reading_ || waiting_.empty()) return;
  reading_ = {.token = job_.coordinator.next_token(), .place = waiting_.begin()->first};
  const auto [round, bucket] = reading_->place;
  job_.coordinator.out.emplace_back(
      LoadRound{.token = reading_->token, .job = job_.id(), .round = round, .results_of = bucket});
}

// The results in the answer; empty if they are not complete. `round` is null if the history does
// not name it any more.
LateResults::Results LateResults::read(const RoundLoaded& event, const Published* round,
                                       std::uint32_t bucket) {
  if (!round || !event.round || event.round->id != round->record->id) return {};
  Results results(round->plan->buckets()[bucket].stages());
  for (const RedoPayload& payload : event.results) {
    if (payload.bucket == bucket && payload.stage < results.size()) {
      results[payload.stage] = payload.payload;
    }
  }
  if (!std::ranges::all_of(results, [](const SharedBytes& each) { return each != nullptr; })) {
    return {};
  }
  std::erase_if(being_sent_, [](const auto& item) {
    return std::ranges::all_of(item.second, [](const auto& each) { return each.expired(); });
  });
  being_sent_[{event.round->id.round, bucket}] = {results.begin(), results.end()};
  count(event.round->id.round, results);
  return results;
}

void LateResults::count(std::uint64_t round, const Results& read) {
  add_to_tally(facts_.results_read_of_round, std::to_string(round));
  for (const SharedBytes& payload : read) facts_.results_read_bytes += payload->size();
}

void LateResults::add_facts(wire::RoundMechanismsT& facts) const {
  facts.results_read_bytes += facts_.results_read_bytes;
  for (const auto& read : facts_.results_read_of_round) {
    add_to_tally(facts.results_read_of_round, read->of, read->count);
  }
  for (const auto& sent : facts_.results_read_for) {
    add_to_tally(facts.results_read_for, sent->of, sent->count);
  }
}

std::optional<LateResults::Sent> LateResults::loaded(const RoundLoaded& event) {
  if (!reading_ || event.token != reading_->token) return std::nullopt;
  const Place place = reading_->place;
  reading_.reset();
  const std::map<std::uint64_t, Lack> waiting = std::move(waiting_.extract(place).mapped());
  const Published* const round = committed_.history().published(place.first);
  const Results results = read(event, round, place.second);
  if (results.empty()) {
    job_.coordinator.note(LogLevel::warning, "results_unread",
                          event.status.ok() ? "not_stored" : name(event.status.code()), {},
                          event.status.text(), {.job = job_.id(), .round = place.first});
  }
  Sent sent;
  for (const auto& [number, lack] : waiting) {
    AgentSession* const session = job_.coordinator.roster.by_session(number);
    if (!session || !waits_for(*session, place.first)) continue;
    if (results.empty()) {
      sent.failed.push_back(session);
    } else {
      sent.bytes += stream(*session, *round, lack, results);
    }
  }
  read_next();
  return sent;
}

std::uint64_t LateResults::bytes_read() const {
  std::uint64_t bytes = 0;
  for (const auto& [place, results] : being_sent_) {
    for (const std::weak_ptr<const Bytes>& each : results) {
      if (const SharedBytes payload = each.lock()) bytes += payload->size();
    }
  }
  return bytes;
}

}  // namespace tributary
