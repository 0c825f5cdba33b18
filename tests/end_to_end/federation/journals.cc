#include "tests/end_to_end/federation/journals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/round/common/plan/job_model.h"
#include "core/store/agent/agent_journal.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/train/synthetic_trainer.h"
#include "schemas/frame.h"

namespace tributary::end_to_end {
namespace {

bool has(const ContributorSetRecord& set, std::size_t member) {
  return ((set.bits[member / 8] >> (member % 8)) & 1u) != 0;
}

}  // namespace

Result<AgentState> read_agent_journal(const std::string& path) {
  TRIBUTARY_ASSIGN(const auto journal, AgentJournal::open({.path = path}));
  return journal->restore();
}

Result<CoordinatorState> read_coordinator_journal(const std::string& path) {
  TRIBUTARY_ASSIGN(const auto journal, CoordinatorJournal::open({.journal = {.path = path}}));
  return journal->restore();
}

void Expectation::replay(const RestoredJob& job) {
  const auto model = JobModel::make(job.job.definition);
  ASSERT_TRUE(model.ok()) << model.status().text();
  model_.assign((*model)->values(), 0.0f);
  model_hash_ = model_hash_of(model_);
  for (const auto& [id, rounds] : taken_) held_[id].assign(model_.size(), 0.0f);

  // Rounds before the checkpoint are in the history, later ones in the redo log.
  std::vector<RoundRecord> rounds = job.history;
  for (const CommitRecord& commit : job.redo) rounds.push_back(commit.round);
  for (const RoundRecord& round : rounds) {
    const auto epoch = std::ranges::find(job.epochs, round.id.epoch, &EpochRecord::epoch);
    ASSERT_NE(epoch, job.epochs.end()) << "round " << round.id.round;
    ASSERT_NO_FATAL_FAILURE(replay_round(round, *epoch));
  }
}

void Expectation::replay_round(const RoundRecord& round, const EpochRecord& epoch) {
  ASSERT_EQ(round.id.round, version_ + 1) << "a round is missing, or there twice";
  EXPECT_EQ(round.previous_hash, model_hash_) << "round " << round.id.round;
  FloatVector update(model_.size());
  std::map<std::string, FloatVector> lost;  // updates of killed processes; zero where they count
  for (const auto& [id, rounds] : taken_) {
    if (!rounds.contains(round.id.round)) continue;
    fill_synthetic_update(job_seed_, id, round.id.round, update);
    std::ranges::transform(held_[id], update, held_[id].begin(), std::plus());
    const auto interrupted = interrupted_.find(id);
    if (interrupted != interrupted_.end() && interrupted->second.contains(round.id)) {
      lost[id] = update;
    }
  }
  const Result<const wire::Frame*> frame = open_frame(*round.plan);
  ASSERT_TRUE(frame.ok()) << frame.status().text();
  const auto& buckets = *(*frame)->message_as_Plan()->buckets();
  for (const OutcomeRecord& outcome : round.outcomes) {
    const ContributorSetRecord& set = round.contributor_sets[outcome.contributor_set];
    const wire::Bucket& bucket = *buckets[outcome.bucket];
    for (std::size_t i = bucket.first_value(); i < bucket.first_value() + bucket.values(); ++i) {
      float sum = 0;
      for (std::size_t member = 0; member < epoch.members.size(); ++member) {
        if (!has(set, member)) continue;
        const std::string& id = epoch.members[member].agent_id;
        // A contribution takes the residual with it, so the residual becomes zero.
        sum += std::exchange(held_[id][i], 0.0f);
        if (const auto found = lost.find(id); found != lost.end()) found->second[i] = 0;
      }
      model_[i] += sum / static_cast<float>(set.divisor);
    }
  }
  for (const auto& [id, values] : lost) {
    std::ranges::transform(held_[id], values, held_[id].begin(), std::minus());
  }
  version_ = round.id.round;
  model_hash_ = round.model_hash;
  EXPECT_EQ(model_hash_of(model_), model_hash_) << "after round " << version_;
}

}  // namespace tributary::end_to_end
