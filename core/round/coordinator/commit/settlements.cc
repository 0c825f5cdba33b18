#include "core/round/coordinator/commit/settlements.h"

#include <algorithm>
#include <memory>

#include "schemas/limits.h"

namespace tributary {
namespace {

// Number of rounds that an offer names at least, if the agent's own are fewer.
constexpr std::size_t kRecentRounds = 8;
// Pause before the journal is read again after a failure. It doubles with each failure.
constexpr TimeNs kReadAgainAfterNs = 1'000 * kNsPerMs;

}  // namespace

std::optional<std::vector<wire::SettlementT>> Settlements::up_to(const AgentSession& session,
                                                                 std::uint64_t version) {
  // First the rounds that the agent named, which it needs. Then those of this session: it may have
  // taken part in any round after the version that it has reported, up to the one that follows the
  // last commit that it was sent. Then recent ones, as a precaution.
  std::vector<RoundKey> ids;
  for (const RoundKey& key : session.undecided) {
    if (key.job == job_.id() && key.round <= version) ids.push_back(key);
  }
  const auto add = [&](std::uint64_t round) {
    const RoundRecord* const record = committed_.history().outcome(round);
    if (record && std::ranges::find(ids, record->id) == ids.end()) ids.push_back(record->id);
    return record != nullptr;
  };
  const std::uint64_t last = std::min(session.commit_sent + 1, version);
  for (std::uint64_t round = session.version + 1;
       round <= last && ids.size() < wire::kRoundsPerCommitMax; ++round) {
    add(round);
  }
  for (std::uint64_t round = version; round > 0 && ids.size() < kRecentRounds; --round) {
    if (!add(round)) break;
  }
  // The offer has room for this number. An agent that lacks another outcome names the round in its
  // next Hello.
  if (ids.size() > wire::kRoundsPerCommitMax) ids.resize(wire::kRoundsPerCommitMax);
  std::vector<wire::SettlementT> settled;
  for (const RoundKey& id : ids) {
    const std::optional<Fate> fate = fate_of(session, id);
    if (!fate) {
      load({.session = session.conversation.session(), .round = id.round});
      return std::nullopt;
    }
    wire::SettlementT settlement;
    settlement.id = std::make_unique<wire::RoundId>(wire_id(id));
    settlement.committed = fate->committed;
    settlement.buckets = fate->buckets;
    settlement.contributed_bits = fate->contributed.bytes();
    settled.push_back(std::move(settlement));
  }
  return settled;
}

void Settlements::load(const Loading& loading) {
  const Token token = job_.coordinator.next_token();
  loading_[token] = loading;
  job_.coordinator.out.emplace_back(
      LoadRound{.token = token, .job = job_.id(), .round = loading.round});
}

// A session that is gone needs no outcome any more; its request is dropped.
void Settlements::load_again() {
  std::vector<Loading> due;
  std::erase_if(loading_, [&](const auto& item) {
    if (item.second.again_at_ns > job_.coordinator.now) return false;
    due.push_back(item.second);
    return true;
  });
  for (Loading& loading : due) {
    if (!job_.coordinator.roster.by_session(loading.session)) continue;
    loading.again_at_ns = kNever;
    ++loading.reads;
    load(loading);
  }
}

TimeNs Settlements::next_due_ns() const {
  TimeNs due = kNever;
  for (const auto& [token, loading] : loading_) due = std::min(due, loading.again_at_ns);
  return due;
}

std::optional<Fate> Settlements::fate_of(const AgentSession& session, const RoundKey& id) const {
  const auto found = loaded_.find(id.round);
  if (found == loaded_.end()) {
    return committed_.history().fate(session.agent_id, id, committed_.version());
  }
  return fate_in(found->second.first, found->second.second, session.agent_id, id);
}

// Returns the session that waited for this round, or null if it has to wait longer or is gone.
AgentSession* Settlements::take(const RoundLoaded& event) {
  const auto found = loading_.find(event.token);
  if (found == loading_.end() || found->second.again_at_ns != kNever) return nullptr;
  const Loading loading = found->second;
  if (!event.status.ok() && loading.reads < kReadsMax) {
    found->second.again_at_ns = job_.coordinator.now + (kReadAgainAfterNs << (loading.reads - 1));
    return nullptr;
  }
  loading_.erase(found);
  AgentSession* const session = job_.coordinator.roster.by_session(loading.session);
  if (!session) return nullptr;
  if (!event.status.ok()) {
    // A later request of the agent reads the journal anew.
    session->transfer_requested = false;
    job_.coordinator.note(LogLevel::error, "outcome_unread", name(event.status.code()),
                          session->agent_id, event.status.text(),
                          {.job = job_.id(), .round = loading.round});
    return nullptr;
  }
  if (event.round && event.epoch) {
    loaded_[loading.round] = {*event.round, *event.epoch};
  } else {
    // The journal has no such round, so it was never committed.
    std::erase_if(session->undecided,
                  [&](const RoundKey& key) { return key.round == loading.round; });
  }
  session->transfer_requested = false;
  return session;
}

// Outcomes read from the journal are kept only until the offer is complete, which may take several
// reads.
void Settlements::release(const AgentSession& session) {
  if (!session.transfer_requested || loaded_.size() > wire::kRoundsPerCommitMax) loaded_.clear();
}

}  // namespace tributary
