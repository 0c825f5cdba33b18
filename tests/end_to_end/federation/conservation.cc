#include "tests/end_to_end/federation/conservation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/train/synthetic_trainer.h"
#include "schemas/frame.h"

namespace tributary::end_to_end {
namespace {

using Sums = std::vector<double>;

void add(const FloatVector& values, double factor, Sums& sums) {
  ASSERT_EQ(values.size(), sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += factor * static_cast<double>(values[i]);
}

std::vector<RoundRecord> rounds_of(const RestoredJob& job) {
  std::vector<RoundRecord> rounds = job.history;
  for (const CommitRecord& commit : job.redo) rounds.push_back(commit.round);
  return rounds;
}

bool has_member(const ContributorSetRecord& set, std::size_t member) {
  return ((set.bits[member / 8] >> (member % 8)) & 1u) != 0;
}

// Removes what was lost in a round with the process of the agent: its update, in the buckets that
// count without it or were not exchanged. The latter have no outcome.
void remove_lost(const RoundRecord& round, const EpochRecord& epoch, const std::string& agent_id,
                 FloatVector update, Sums& sums) {
  const auto found = std::ranges::find(epoch.members, agent_id, &MemberRecord::agent_id);
  ASSERT_NE(found, epoch.members.end());
  const auto member = static_cast<std::size_t>(found - epoch.members.begin());
  const Result<const wire::Frame*> frame = open_frame(*round.plan);
  ASSERT_TRUE(frame.ok()) << frame.status().text();
  const auto& buckets = *(*frame)->message_as_Plan()->buckets();
  for (const OutcomeRecord& outcome : round.outcomes) {
    if (!has_member(round.contributor_sets[outcome.contributor_set], member)) continue;
    const wire::Bucket& bucket = *buckets[outcome.bucket];
    const auto first = update.begin() + static_cast<std::ptrdiff_t>(bucket.first_value());
    std::fill_n(first, bucket.values(), 0.0F);
  }
  add(update, -1, sums);
}

}  // namespace

Conservation account_of(const RestoredJob& job, const AgentStates& agents, std::uint64_t job_seed,
                        const RoundsTaken& taken, const RoundsInterrupted& interrupted) {
  Conservation account;
  const FloatVector& model = *agents.begin()->second.replica->model;
  Sums sums(model.size());
  FloatVector update(model.size());
  for (const auto& [id, rounds] : taken) {
    for (const std::uint64_t round : rounds) {
      fill_synthetic_update(job_seed, id, round, update);
      add(update, 1, sums);
      ++account.updates;
    }
  }

  std::uint64_t version = 0;
  for (const RoundRecord& round : rounds_of(job)) {
    EXPECT_EQ(round.id.round, ++version) << "a round is missing, or there twice";
    for (const ContributorSetRecord& set : round.contributor_sets) {
      EXPECT_EQ(set.divisor, agents.size()) << "round " << version;
    }
    const auto epoch = std::ranges::find(job.epochs, round.id.epoch, &EpochRecord::epoch);
    for (const auto& [id, rounds] : interrupted) {
      if (!rounds.contains(round.id) || epoch == job.epochs.end()) continue;
      fill_synthetic_update(job_seed, id, version, update);
      const Sums before = sums;
      remove_lost(round, *epoch, id, update, sums);
      if (before != sums) ++account.interrupted;
    }
  }

  add(model, -static_cast<double>(agents.size()), sums);
  if (job.aggregator_residual) add(*job.aggregator_residual, -1, sums);
  for (const auto& [id, agent] : agents) {
    if (!agent.replica->residual) continue;
    add(*agent.replica->residual, -1, sums);
    for (const float value : *agent.replica->residual) {
      account.residual_max = std::max(account.residual_max, std::fabs(static_cast<double>(value)));
    }
  }
  for (const double sum : sums) {
    account.difference_max = std::max(account.difference_max, std::fabs(sum));
  }
  return account;
}

}  // namespace tributary::end_to_end
