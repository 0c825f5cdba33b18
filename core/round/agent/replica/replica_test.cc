// Tests of an agent's copy of the model: it changes only by commits of its job, and a model that
// differs from the commit's hash is dropped.
#include "core/round/agent/replica/replica.h"

#include "core/base/bytes/checksum.h"
#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::all;
using round_testing::kSmallValues;
using round_testing::notes;
using round_testing::Packed;
using round_testing::small_job;

wire::CommitT commit_of(const Replica& replica, const FloatVector& after) {
  wire::CommitT commit;
  commit.id = std::make_unique<wire::RoundId>(1, replica.version() + 1, 1, 0);
  commit.model_version = replica.version() + 1;
  commit.previous_hash = replica.id().hash;
  commit.model_hash = model_hash_of(after);
  return commit;
}

TEST(Replica, KeepsItsModelWithANewRevisionOfTheJobAlone) {
  AgentParts agent;
  agent.have_model(3, 1);
  wire::JobT job = small_job();
  job.revision = 2;
  const Result<bool> same = agent.replica.take(*Packed(job));
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(*same);
  EXPECT_EQ(agent.replica.version(), 3u);
  const Result<bool> other = agent.replica.take(*Packed(small_job(2)));
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(*other);
  EXPECT_EQ(agent.replica.model(), nullptr);
  EXPECT_EQ(agent.replica.version(), 0u);
}

TEST(Replica, RefusesAModelThatIsTooLarge) {
  AgentConfig config = AgentParts::config();
  config.model_bytes_max = kSmallValues * sizeof(float) - 1;
  AgentContext context(config);
  Replica replica(context);
  EXPECT_EQ(replica.take(*Packed(small_job())).status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(replica.job(), nullptr);
}

TEST(Replica, StoresOnlyNewChangesOfItsJob) {
  AgentParts agent;
  agent.have_model();
  wire::JobChangeT change;
  change.job = 1;
  change.change = 1;
  change.state = wire::JobState::paused;
  agent.replica.change(*Packed(change));
  agent.replica.change(*Packed(change));
  const auto stored = agent.store_all();
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(std::get<AgentJobRecord>(stored[0]).state, wire::JobState::paused);
}

TEST(Replica, LosesAModelThatIsNotTheCommits) {
  AgentParts agent;
  agent.have_model(0, 1);
  ModelAhead ahead = agent.replica.go_ahead();
  const wire::CommitT commit = commit_of(agent.replica, *all(2));
  EXPECT_FALSE(agent.replica.adopt(commit, std::move(ahead)));
  EXPECT_EQ(agent.replica.model(), nullptr);
  EXPECT_EQ(agent.replica.version(), 0u);
  EXPECT_EQ(notes(agent.take(), "replica_diverged"), 1);
}

TEST(Replica, AdoptsTheModelThatExchangesHaveMade) {
  AgentParts agent;
  agent.have_model(0, 1);
  ModelAhead ahead = agent.replica.go_ahead();
  ahead.model = all(2);
  EXPECT_TRUE(agent.replica.adopt(commit_of(agent.replica, *all(2)), std::move(ahead)));
  EXPECT_EQ(agent.replica.version(), 1u);
  EXPECT_EQ(*agent.replica.model(), *all(2));
  EXPECT_EQ(agent.replica.holding()->model_hash, model_hash_of(*all(2)));
}

TEST(Replica, StoresItsModelNowAndThen) {
  AgentParts agent;
  const std::uint64_t rounds = agent.context.config.checkpoint_rounds;
  const auto stored = [&](std::uint64_t version, Replica::Checkpoint checkpoint) {
    const auto model = all(static_cast<float>(version));
    const ModelId id = {.version = version, .hash = model_hash_of(*model)};
    EXPECT_TRUE(agent.replica.adopt({.id = id, .model = model, .rule_state = {}}).ok());
    return agent.replica.record(1, ResidualAccount(kSmallValues), checkpoint).model != nullptr;
  };
  agent.have_model(4, 1);
  EXPECT_TRUE(stored(5, Replica::Checkpoint::if_due)) << "none is stored";
  EXPECT_FALSE(stored(6, Replica::Checkpoint::if_due));
  EXPECT_FALSE(stored(4 + rounds, Replica::Checkpoint::if_due));
  EXPECT_TRUE(stored(5 + rounds, Replica::Checkpoint::if_due));
  EXPECT_TRUE(stored(6 + rounds, Replica::Checkpoint::now));
  EXPECT_FALSE(stored(5 + 2 * rounds, Replica::Checkpoint::if_due));
  EXPECT_TRUE(stored(99, Replica::Checkpoint::now));
  EXPECT_TRUE(stored(100, Replica::Checkpoint::if_due)) << "the last round";
  EXPECT_TRUE(stored(3, Replica::Checkpoint::if_due)) << "an earlier version";
  EXPECT_FALSE(stored(4, Replica::Checkpoint::if_due));
  wire::JobChangeT finished;
  finished.job = 1;
  finished.change = 1;
  finished.state = wire::JobState::finished;
  EXPECT_TRUE(agent.replica.change(*Packed(finished)));
  EXPECT_TRUE(stored(5, Replica::Checkpoint::if_due)) << "the job is over";
}

TEST(Replica, KnowsWhetherItsRecordIsNew) {
  AgentParts agent;
  agent.have_model(4, 1);
  ResidualAccount residual(kSmallValues);
  EXPECT_FALSE(agent.replica.recorded(residual)) << "none is stored";
  ReplicaRecord record = agent.replica.record(1, residual, Replica::Checkpoint::now);
  EXPECT_TRUE(agent.replica.recorded(residual));
  residual.add(all(1), 1);
  residual.took_update(5);
  EXPECT_FALSE(agent.replica.recorded(residual)) << "another residual";
  record = agent.replica.record(1, residual, Replica::Checkpoint::if_due);
  EXPECT_TRUE(agent.replica.recorded(residual)) << "the model is an earlier record's";

  const auto model = all(2);
  const ModelId id = {.version = 5, .hash = model_hash_of(*model)};
  ASSERT_TRUE(agent.replica.adopt({.id = id, .model = model, .rule_state = {}}).ok());
  EXPECT_FALSE(agent.replica.recorded(residual)) << "another model";
  agent.replica.record(1, residual, Replica::Checkpoint::if_due);
  EXPECT_FALSE(agent.replica.recorded(residual)) << "a record without the model";
  record = agent.replica.record(1, residual, Replica::Checkpoint::now);
  EXPECT_TRUE(agent.replica.recorded(residual));

  agent.replica.store_job({});
  const auto job = std::get<AgentJobRecord>(agent.store_all().at(0));
  AgentParts restarted;
  ASSERT_TRUE(restarted.replica.restore(job).ok());
  ASSERT_TRUE(restarted.replica.restore(record).ok());
  EXPECT_TRUE(restarted.replica.recorded(residual)) << "restored";
  ASSERT_TRUE(restarted.replica.take(*Packed(small_job(2))).ok());
  EXPECT_FALSE(restarted.replica.recorded(residual)) << "another job";
}

TEST(Replica, RestoresAnIntactModelAlone) {
  for (const bool intact : {true, false}) {
    AgentParts before;
    before.have_model(4, 1);
    ReplicaRecord record =
        before.replica.record(2, ResidualAccount(kSmallValues), Replica::Checkpoint::now);
    if (!intact) record.model_hash += 1;
    before.replica.store_job({});
    const auto job = std::get<AgentJobRecord>(before.store_all().at(0));

    AgentParts agent;
    ASSERT_TRUE(agent.replica.restore(job).ok());
    EXPECT_TRUE(agent.replica.owns(record));
    ASSERT_TRUE(agent.replica.restore(record).ok());
    EXPECT_EQ(agent.replica.version(), 4u);
    EXPECT_EQ(agent.replica.model() != nullptr, intact);
    EXPECT_EQ(agent.replica.holding()->model_version, intact ? 4u : 0u);
  }
}

}  // namespace
}  // namespace tributary
