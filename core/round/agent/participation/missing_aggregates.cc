#include "core/round/agent/participation/missing_aggregates.h"

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

// If no part of any aggregate arrives for this multiple of the acknowledgement timeout, the agent
// requests what it lacks.
constexpr TimeNs kMissingAfterAckTimeouts = 8;
constexpr TimeNs kMissingPauseMaxNs = 30'000 * kNsPerMs;
constexpr std::size_t kMissingAskedMax = 64;  // number of buckets per request

bool is_in(const wire::CommitT& commit, std::uint32_t bucket) {
  return std::ranges::any_of(commit.rounds[0]->outcomes,
                             [&](const auto& outcome) { return outcome->bucket == bucket; });
}

// True if the agent awaits the bucket's sums from an aggregator in the network.
bool awaits_network(const AgentRound& round, std::uint32_t bucket) {
  const PlannedBucket& planned = round.plan().buckets()[bucket];
  return round.rank() && !round.withdrawn() && planned.network &&
         round.work()[bucket].combined.size() == planned.last_stage();
}

}  // namespace

TimeNs MissingAggregates::least_pause_ns() const {
  return kMissingAfterAckTimeouts * session_.ack_timeout_ns();
}

void MissingAggregates::reset() {
  again_ = {};
  needed_by_commit_ = false;
}

void MissingAggregates::contributed() {
  if (!session_.is_open()) return;
  again_.start(context_.now, least_pause_ns(), least_pause_ns());
}

void MissingAggregates::needed_by_commit(const AgentRound& round) {
  if (!session_.is_open() || std::exchange(needed_by_commit_, true)) return;
  // A commit may arrive before the aggregates that are still being sent to participants.
  const bool being_sent = round.member().has_value() || round.bytes() > 0;
  again_.start(context_.now, being_sent ? least_pause_ns() : 0, least_pause_ns());
}

void MissingAggregates::part_came() {
  if (again_.running() && session_.is_open()) again_.postpone(context_.now, least_pause_ns());
}

void MissingAggregates::ask(const AgentRound& round, const wire::CommitT* commit) {
  if (!session_.is_open() || !again_.due(context_.now)) return;
  std::size_t asked = 0;
  for (std::uint32_t bucket = 0; bucket < round.work().size() && asked < kMissingAskedMax;
       ++bucket) {
    if (commit ? !is_in(*commit, bucket) : awaits_network(round, bucket)) continue;
    if (std::optional<wire::ReceiptT> missing = round.missing(bucket)) {
      session_.send(frame_with(std::move(*missing)));
      ++asked;
    }
  }
  again_.repeat(context_.now, least_pause_ns(), kMissingPauseMaxNs);
}

}  // namespace tributary
