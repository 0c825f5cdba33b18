#include "core/round/coordinator/commit/history.h"

#include <algorithm>
#include <utility>

namespace tributary {

// Built only from what the journal keeps, so a commit that is sent after a restart is equal to the
// one that was sent before.
std::shared_ptr<const wire::CommitT> commit_message(const RoundRecord& record,
                                                    wire::Collective collective) {
  auto commit = std::make_shared<wire::CommitT>();
  commit->id = std::make_unique<wire::RoundId>(wire_id(record.id));
  commit->agents = record.members;
  commit->model_version = record.id.round;
  commit->model_hash = record.model_hash;
  commit->previous_hash = record.previous_hash;
  commit->journal_entry = record.journal_entry;
  auto round = std::make_unique<wire::RoundOutcomeT>();
  round->round = record.id.round;
  round->attempt = record.id.attempt;
  for (const ContributorSetRecord& set : record.contributor_sets) {
    auto made = std::make_unique<wire::ContributorSetT>();
    made->bits = set.bits;
    made->contributors = set.contributors;
    made->divisor = set.divisor;
    round->contributor_sets.push_back(std::move(made));
  }
  for (const OutcomeRecord& outcome : record.outcomes) {
    auto result = std::make_unique<wire::OutcomeT>();
    result->bucket = outcome.bucket;
    result->contributor_set = outcome.contributor_set;
    result->result_hash = outcome.result_hash;
    result->collective = collective;
    round->outcomes.push_back(std::move(result));
  }
  commit->rounds.push_back(std::move(round));
  return commit;
}

Fate fate_in(const RoundRecord& record, const EpochRecord& epoch, const std::string& agent_id,
             const RoundKey& id) {
  Fate fate{.committed = record.id == id, .buckets = record.buckets, .contributed = {}};
  fate.contributed = Bitmap(record.buckets);
  // Another attempt at the same round was committed, so this one does not count.
  if (!fate.committed) return fate;
  const auto member = std::ranges::find(epoch.members, agent_id, &MemberRecord::agent_id);
  if (member == epoch.members.end()) return fate;
  const auto index = static_cast<std::size_t>(member - epoch.members.begin());
  for (const OutcomeRecord& outcome : record.outcomes) {
    const ContributorSetRecord& set = record.contributor_sets[outcome.contributor_set];
    if (Bitmap(set.bits, record.members).test(index)) fate.contributed.set(outcome.bucket);
  }
  return fate;
}

void History::add_epoch(std::shared_ptr<const EpochRecord> epoch) {
  const std::uint32_t number = epoch->epoch;
  epochs_[number] = std::move(epoch);
}

void History::add_outcome(std::shared_ptr<const RoundRecord> record) {
  const std::uint64_t round = record->id.round;
  outcomes_[round] = std::move(record);
  trim();
}

void History::publish(Published round) {
  add_outcome(round.record);
  bytes_ += round.bytes;
  bytes_in_memory_ += round.bytes;
  published_.push_back(std::move(round));
  trim_payloads();
}

void History::drop_payloads_for(std::uint64_t bytes) {
  if (bytes <= payload_bytes_max_) return;
  published_.clear();
  bytes_ = bytes_in_memory_ = 0;
}

void History::free_large_payloads() {
  if (bytes_in_memory_ <= bytes_in_memory_max_ || !journal_keeps(published_.back().bytes)) return;
  free_payloads(published_.back());
}

// Without a limit for memory, no agent needs the journal. A round that leaves with the next one is
// of no use there.
bool History::journal_keeps(std::uint64_t bytes) const {
  return bytes_in_memory_max_ < payload_bytes_max_ && bytes <= payload_bytes_max_ / 2;
}

std::uint64_t History::journal_from(std::uint64_t round, std::uint64_t bytes) const {
  if (!journal_keeps(bytes)) return 0;
  std::uint64_t first = round;
  std::uint64_t total = bytes;
  for (auto it = published_.rbegin(); it != published_.rend(); ++it) {
    total += it->bytes;
    if (total > payload_bytes_max_ || round - it->record->id.round >= rounds_max_) break;
    first = it->record->id.round;
  }
  return first;
}

void History::free_payloads(Published& round) {
  if (!std::exchange(round.in_memory, false)) return;
  bytes_in_memory_ -= round.bytes;
  round.combined.clear();
}

// The last round always stays. A round is kept no longer than its outcome, which is needed to check
// the model that an agent has after it.
void History::trim_payloads() {
  while (published_.size() > 1 &&
         (bytes_ > payload_bytes_max_ || published_.size() > rounds_max_)) {
    free_payloads(published_.front());
    bytes_ -= published_.front().bytes;
    published_.pop_front();
  }
  for (std::size_t i = 0; i + 1 < published_.size(); ++i) {
    if (bytes_in_memory_ <= bytes_in_memory_max_) break;
    free_payloads(published_[i]);
  }
}

void History::trim() {
  while (outcomes_.size() > rounds_max_) outcomes_.erase(outcomes_.begin());
  if (outcomes_.empty()) return;
  // Removes epochs before the one of the oldest kept round.
  epochs_.erase(epochs_.begin(), epochs_.lower_bound(outcomes_.begin()->second->id.epoch));
}

const Published* History::published(std::uint64_t round) const {
  const auto found =
      std::ranges::find(published_, round, [](const Published& p) { return p.record->id.round; });
  return found == published_.end() ? nullptr : &*found;
}

const RoundRecord* History::outcome(std::uint64_t round) const {
  const auto found = outcomes_.find(round);
  return found == outcomes_.end() ? nullptr : found->second.get();
}

const EpochRecord* History::epoch(std::uint32_t number) const {
  const auto found = epochs_.find(number);
  return found == epochs_.end() ? nullptr : found->second.get();
}

std::optional<Fate> History::fate(const std::string& agent_id, const RoundKey& id,
                                  std::uint64_t model_version) const {
  // The round is not committed yet. An agent that participates in it learns the outcome from its
  // commit.
  if (id.round > model_version) return Fate{};
  const RoundRecord* record = outcome(id.round);
  if (!record) return std::nullopt;
  const EpochRecord* members = epoch(record->id.epoch);
  if (!members) return std::nullopt;
  return fate_in(*record, *members, agent_id, id);
}

}  // namespace tributary
