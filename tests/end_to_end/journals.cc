#include "tests/end_to_end/journals.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/round/job_model.h"
#include "core/round/round_plan.h"
#include "core/store/agent_journal.h"
#include "core/store/coordinator_journal.h"
#include "core/train/synthetic_trainer.h"
#include "schemas/frame.h"

namespace tributary::end_to_end {
namespace {

Status add_commit(const CommitRecord& commit, const JobModel& job, CodecShelf& shelf,
                  FloatVector& total) {
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*commit.round.plan));
  wire::PlanT wire;
  frame->message_as_Plan()->UnPackTo(&wire);
  TRIBUTARY_ASSIGN(const auto plan, RoundPlan::make(wire, job, shelf));
  FloatVector sum;
  for (const OutcomeRecord& outcome : commit.round.outcomes) {
    CommittedBucket bucket{
        .bucket = outcome.bucket, .divisor = 1, .contributors = 1, .combined = {}};
    bucket.contributors = commit.round.contributor_sets[outcome.contributor_set].contributors;
    for (const RedoPayload& redo : commit.redo) {
      if (redo.bucket == outcome.bucket) bucket.combined.emplace_back(*redo.payload);
    }
    TRIBUTARY_TRY(decode_bucket(*plan, bucket, {}, sum));
    const std::uint64_t first = plan->buckets()[outcome.bucket].first_value;
    for (std::size_t i = 0; i < sum.size(); ++i) total[first + i] += sum[i];
  }
  return {};
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

Result<Committed> committed_of(const RestoredJob& job) {
  TRIBUTARY_ASSIGN(const auto model, JobModel::make(job.job.definition));
  Committed committed{.version = job.checkpoint.model_version,
                      .model_hash = job.checkpoint.model_hash,
                      .sum = FloatVector(model->values(), 0.0f)};
  EXPECT_EQ(committed.version, 0u) << "a checkpoint has replaced what is to be added up";
  CodecShelf shelf;
  for (const CommitRecord& commit : job.redo) {
    EXPECT_EQ(commit.round.id.round, committed.version + 1) << "a round is missing";
    EXPECT_EQ(commit.round.previous_hash, committed.model_hash);
    TRIBUTARY_TRY(add_commit(commit, *model, shelf, committed.sum));
    committed.version = commit.round.id.round;
    committed.model_hash = commit.round.model_hash;
  }
  return committed;
}

void expect_conserved(const Committed& committed, std::uint64_t job_seed,
                      const std::map<std::string, AgentState>& agents, const RoundsTaken& taken) {
  const std::size_t values = committed.sum.size();
  FloatVector balance = committed.sum;
  FloatVector update(values);
  for (const auto& [id, state] : agents) {
    ASSERT_TRUE(state.replica) << id;
    EXPECT_TRUE(state.undecided.empty()) << id;
    const auto rounds = taken.find(id);
    ASSERT_NE(rounds, taken.end()) << id;
    EXPECT_EQ(state.replica->residual_stamp.updates_taken, rounds->second.size()) << id;
    if (state.replica->residual) {
      ASSERT_EQ(state.replica->residual->size(), values) << id;
      for (std::size_t i = 0; i < values; ++i) balance[i] += (*state.replica->residual)[i];
    }
    for (const std::uint64_t round : rounds->second) {
      fill_synthetic_update(job_seed, id, round, update);
      for (std::size_t i = 0; i < values; ++i) balance[i] -= update[i];
    }
  }
  for (std::size_t i = 0; i < values; ++i) ASSERT_EQ(balance[i], 0) << "value " << i;
}

}  // namespace tributary::end_to_end
