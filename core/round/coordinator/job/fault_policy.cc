#include "core/round/coordinator/job/fault_policy.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/round/common/plan/mechanisms.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

// The members that contributed to at least one bucket.
Bitmap contributors_of(const RoundRecord& record) {
  Bitmap all(record.members);
  for (const ContributorSetRecord& set : record.contributor_sets) {
    all.add(Bitmap(set.bits, record.members));
  }
  return all;
}

}  // namespace

std::vector<std::string> FaultPolicy::names_of(const Bitmap& members) const {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    if (members.test(i)) names.push_back(membership_.members()[i].agent_id);
  }
  return names;
}

Status FaultPolicy::restore(const std::vector<RestoredFacts>& rounds) {
  for (const RestoredFacts& one : rounds) {
    wire::RoundMechanismsT facts;
    if (one.mechanisms) {
      TRIBUTARY_ASSIGN(facts, unpack_round_mechanisms(*one.mechanisms));
    }
    std::map<std::string, std::uint64_t> left;
    for (const auto& tally : facts.excluded) left[tally->of] = tally->count;
    faulty_.replay(one.round, left);
  }
  return {};
}

// Agents that are left out count towards agents_min: the job continues without them instead of
// waiting until they recover.
Bitmap FaultPolicy::participants(std::uint64_t round) {
  const Bitmap ready = membership_.ready_members(round);
  const Bitmap out = faulty_.left_out(names_of(ready), round);
  Bitmap left_out(membership_.size());
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    if (ready.test(i) && out.test(ready.count_before(i))) left_out.set(i);
  }
  Bitmap participants = membership_.participants(round, left_out);
  const bool enough = participants.count() > 0 &&
                      participants.count() + left_out.count() >= job_.policy().agents_min;
  return enough ? participants : Bitmap();
}

// `notify` is false if the agent itself has reported the fault. Otherwise the Abort makes it drop
// the values, so that they do not come back with the residual.
void FaultPolicy::exclude(std::uint32_t member, const RoundKey& key, const std::string& why,
                          bool notify) {
  const std::string& agent_id = membership_.members()[member].agent_id;
  const std::uint64_t next = faulty_.found(agent_id, key.round);
  job_.coordinator.note(
      LogLevel::error, "agent_excluded", "not_finite", agent_id,
      fmt::format("{}: its numbers cannot be added; it takes part again from round {}: {}",
                  agent_id, next, why),
      key);
  AgentSession* const session = membership_.session_of(member);
  if (!notify || !session) return;
  session->conversation.ask(
      job_.coordinator.now,
      [key, why] {
        wire::AbortT abort;
        abort.id = std::make_unique<wire::RoundId>(wire_id(key));
        abort.first_round = key.round;
        abort.reason = wire::AbortReason::not_finite;
        abort.text = why.substr(0, wire::kTextBytesMax);
        abort.excludes = true;
        return frame_with(std::move(abort));
      },
      job_.coordinator.out, key.round);
}

// Needed if every payload is finite and their sum, or the step with it, is not: the cause is then
// found by halving the set of suspects over several attempts.
void FaultPolicy::search_cause(const ActiveRound& round) {
  const std::vector<std::string> suspects = names_of(round.suspects());
  if (suspects.empty()) return;
  const std::optional<std::string> cause = faulty_.search(suspects);
  if (!cause) {
    job_.coordinator.note(
        LogLevel::warning, "cause_searched", "not_finite", {},
        fmt::format("the result of {} agents is not finite, although each payload "
                    "is; following attempts leave out half of the suspects",
                    suspects.size()),
        round.key());
    return;
  }
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    if (membership_.members()[i].agent_id != *cause) continue;
    exclude(i, round.key(), "the model after a step with its update is not finite", true);
  }
}

bool FaultPolicy::gave_up(const ActiveRound& round) {
  search_cause(round);
  const std::uint64_t number = round.key().round;
  if (!faulty_.gave_up(number, names_of(membership_.ready_members(number)))) return false;
  job_.coordinator.note(LogLevel::error, "job_diverged", "model_not_finite", {},
                        "no attempt has finite numbers; the last version of the model is kept. "
                        "Lower the learning rate or clip the updates",
                        round.key());
  return true;
}

void FaultPolicy::count(ActiveRound& round) const {
  for (const auto& [agent_id, rounds] : faulty_.rounds_left(round.key().round)) {
    add_to_tally(round.mechanisms.excluded, agent_id, rounds);
  }
}

void FaultPolicy::committed(const RoundRecord& record, const RoundPlan& plan) {
  faulty_.committed(record.id.round, names_of(plan.participants()),
                    names_of(contributors_of(record)));
}

}  // namespace tributary
