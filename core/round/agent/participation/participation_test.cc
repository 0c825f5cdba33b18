// Tests of an agent's part in a round from training to the report, over attempts, late updates and
// exclusions. The test plays the trainer and the journal.
#include "core/round/agent/participation/participation.h"

#include "core/round/agent/replica/agent_parts_testing.h"
#include "core/update/norm.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::all;
using round_testing::count;
using round_testing::kSmallValues;

// An agent that participates in rounds as member 0 and has an open session.
class SomeParticipation : public testing::Test {
 protected:
  explicit SomeParticipation(const AgentConfig& config = AgentParts::config()) : agent_(config) {}
  void SetUp() override {
    agent_.have_model();
    agent_.open_session();
    updates_.begin_job(kSmallValues);
  }
  void begin(std::uint64_t round, std::uint32_t attempt = 0) {
    round_ = std::make_unique<AgentRound>(agent_.round_plan(round, {.attempt = attempt}));
    round_->take_part_as(0);
    participation_.begin(*round_);
  }
  // The token of the requested training; 0: none is requested.
  Token training() {
    for (const Action& action : agent_.take()) {
      if (const auto* train = std::get_if<Train>(&action)) return train->token;
    }
    return 0;
  }
  void take(Token token, float value) {
    UpdateReady update = {.token = token, .update = all(value)};
    participation_.take(update);
  }

  // The coordinator's result of the bucket arrives, of an update of 1 by each of two members.
  void have_result(std::uint32_t number, bool of_all = true) {
    const PlannedBucket& bucket = round_->plan().buckets()[number];
    const StageCall call = {.round = round_->plan().context(bucket)};
    const auto aggregator = bucket.codec->make_aggregator(0, bucket.values);
    ASSERT_TRUE(aggregator->begin(call, {}).ok());
    for (const std::uint32_t rank : {0u, 1u}) {
      Bytes payload;
      EncoderCache encoders;
      const FloatVector update(bucket.values, 1.0f);
      ASSERT_TRUE(encoders.get(bucket, 1)
                      .encode({.round = round_->plan().context(bucket, rank)}, update, payload)
                      .ok());
      ASSERT_TRUE(aggregator->add(call, payload).ok());
    }
    Bytes combined;
    ASSERT_TRUE(aggregator->finish(call, combined).ok());
    round_->work()[number].combined = {std::make_shared<const Bytes>(std::move(combined))};
    round_->work()[number].of_all = of_all;
    participation_.stage_closed(number);
  }
  // The commit of the current round, whose model goes from 0 to 1 everywhere.
  wire::CommitT commit(std::uint32_t contributors = 2) const {
    wire::CommitT made;
    made.previous_hash = agent_.replica.id().hash;
    made.model_version = round_->key().round;
    made.model_hash = model_hash_of(*all(1));
    made.agents = 2;
    auto& outcome = *made.rounds.emplace_back(std::make_unique<wire::RoundOutcomeT>());
    auto& set = *outcome.contributor_sets.emplace_back(std::make_unique<wire::ContributorSetT>());
    set.bits = Bitmap(2, true).bytes();
    set.contributors = contributors;
    set.divisor = 2;
    for (const BucketWork& work : round_->work()) {
      auto& each = *outcome.outcomes.emplace_back(std::make_unique<wire::OutcomeT>());
      each.bucket = static_cast<std::uint32_t>(&work - round_->work().data());
    }
    return made;
  }

  AgentParts agent_;
  AgentPeers peers_{agent_.context, agent_.replica};
  LocalUpdates updates_;
  MissingAggregates missing_{agent_.context, agent_.session};
  Participation participation_{agent_.context,
                               {.session = agent_.session,
                                .replica = agent_.replica,
                                .peers = peers_,
                                .updates = updates_,
                                .missing = missing_}};
  std::unique_ptr<AgentRound> round_;
};

TEST_F(SomeParticipation, TrainsStoresAndThenReports) {
  begin(1);
  const Token token = training();
  ASSERT_NE(token, 0u);
  take(token + 1, 1);
  EXPECT_EQ(updates_.residual().shared(), nullptr) << "of another training";
  take(token, 1);
  EXPECT_TRUE(agent_.sent<wire::ReportT>().empty());
  EXPECT_EQ(agent_.store_all().size(), 1u);
  EXPECT_GT(participation_.upload().bytes(), 0u);
  EXPECT_EQ(agent_.sent<wire::ReportT>().size(), 1u);
  EXPECT_NE(missing_.next_due_ns(), kNever);
}

TEST_F(SomeParticipation, GivesTheSameUpdateInTheNextAttempt) {
  begin(1);
  take(training(), 1);
  agent_.store_all();
  participation_.close();
  begin(1, 1);
  EXPECT_EQ(training(), 0u);
  EXPECT_EQ(agent_.store_all().size(), 1u);
  EXPECT_GT(participation_.upload().bytes(), 0u);
}

TEST_F(SomeParticipation, SendsALateUpdateInTheCurrentRoundWithoutTrainingAgain) {
  begin(1);
  const Token late = training();
  participation_.close();
  begin(2);
  EXPECT_EQ(training(), 0u) << "one training at a time";
  take(late, 1);
  EXPECT_EQ(*updates_.residual().shared(), *all(1));
  EXPECT_EQ(training(), 0u);
  EXPECT_EQ(agent_.store_all().size(), 1u);
  EXPECT_GT(participation_.upload().bytes(), 0u);
  EXPECT_EQ(round_->trained_round(), 1u);
}

TEST_F(SomeParticipation, KeepsALateUpdateForTheNextRoundIfNoneIsRunning) {
  begin(1);
  const Token late = training();
  participation_.close();
  take(late, 1);
  EXPECT_EQ(agent_.store_all().size(), 1u);
  begin(2);
  EXPECT_EQ(training(), 0u);
  agent_.store_all();
  EXPECT_GT(participation_.upload().bytes(), 0u);
  participation_.close();
  updates_.round_ended(true);
  begin(3);
  EXPECT_NE(training(), 0u) << "it was counted";
}

TEST_F(SomeParticipation, WaitsForTheResidualThatIsBeingStored) {
  begin(1);
  take(training(), 1);
  participation_.close();
  updates_.round_ended(true);
  begin(2);
  take(training(), 1);
  participation_.take_kept_update();
  EXPECT_EQ(updates_.residual().stamp().updates_taken, 1u);
  agent_.store_all();
  participation_.take_kept_update();
  EXPECT_EQ(updates_.residual().stamp().updates_taken, 2u);
}

// Each bucket is applied as soon as its result is here, and the commit finds nothing left to do.
TEST_F(SomeParticipation, TrainsForTheNextRoundBeforeTheCommit) {
  begin(1);
  take(training(), 1);
  agent_.store_all();
  have_result(0);
  EXPECT_TRUE(participation_.busy());
  participation_.go_on(true);
  EXPECT_FALSE(participation_.busy()) << "the other bucket has no result";
  EXPECT_EQ(training(), 0u);
  have_result(1);
  participation_.go_on(true);
  SharedFloats model;
  for (const Action& action : agent_.take()) {
    if (const auto* train = std::get_if<Train>(&action)) model = train->model;
  }
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(*model, *all(1));
  EXPECT_EQ(*agent_.replica.model(), *all(0)) << "nothing is committed";
  ASSERT_TRUE(participation_.apply(commit()));
  EXPECT_EQ(agent_.replica.model(), model) << "the same object";
  agent_.store_all();
  begin(2);
  EXPECT_EQ(training(), 0u) << "it has begun";
  EXPECT_EQ(round_->mechanisms().trained_ahead, 1u);
}

// The divisor is known only from the commit then.
TEST_F(SomeParticipation, WaitsForTheCommitOfAResultThatLacksAMember) {
  begin(1);
  take(training(), 1);
  agent_.store_all();
  have_result(0);
  have_result(1, false);
  participation_.go_on(true);
  EXPECT_FALSE(participation_.busy());
  EXPECT_EQ(training(), 0u);
  ASSERT_TRUE(participation_.apply(commit(1)));
  EXPECT_EQ(*agent_.replica.model(), *all(1));
}

class ParticipationWithALargeModel : public SomeParticipation {
 protected:
  ParticipationWithALargeModel() : SomeParticipation(config()) {}
  static AgentConfig config() {
    AgentConfig made = AgentParts::config();
    made.large_model_bytes = kSmallValues * sizeof(float);
    return made;
  }
};

// It has no second model beside that of the last commit.
TEST_F(ParticipationWithALargeModel, AppliesAStarsResultsWithTheCommit) {
  begin(1);
  take(training(), 1);
  agent_.store_all();
  have_result(0);
  have_result(1);
  EXPECT_FALSE(participation_.busy());
  participation_.go_on(true);
  EXPECT_EQ(training(), 0u);
  ASSERT_TRUE(participation_.apply(commit()));
  EXPECT_EQ(*agent_.replica.model(), *all(1));
}

TEST_F(SomeParticipation, ForgetsATrainingFromAModelThatIsNotCommitted) {
  begin(1);
  take(training(), 1);
  agent_.store_all();
  have_result(0);
  have_result(1);
  participation_.go_on(true);
  participation_.go_on(true);
  EXPECT_NE(training(), 0u);
  participation_.close();
  begin(1, 1);
  EXPECT_EQ(training(), 0u) << "its update is in the residual";
  EXPECT_EQ(*agent_.replica.model(), *all(0));
}

// The job's norm_max. The residual of a round that this agent has missed is not counted.
TEST_F(SomeParticipation, BoundsTheUpdateAndNotTheResidual) {
  const double norm = norm_of(*all(1));
  agent_.have_model(0, 0, norm);
  begin(1);
  take(training(), 4);
  EXPECT_NEAR((*updates_.residual().shared())[0], 1, 1e-6);
  participation_.close();
  updates_.round_ended(true);  // so that it trains again
  agent_.store_all();
  begin(2);
  take(training(), 0.5f);
  EXPECT_NEAR((*updates_.residual().shared())[0], 1.5, 1e-6);
}

TEST_F(SomeParticipation, RefusesAnUpdateThatCouldOverflowTheSum) {
  begin(1);
  take(training(), 3e38f);
  EXPECT_TRUE(round_->withdrawn());
  EXPECT_EQ(updates_.residual().shared(), nullptr);
  EXPECT_EQ(agent_.sent<wire::AbortT>().at(0).reason, wire::AbortReason::not_finite);
}

TEST_F(SomeParticipation, DropsItsResidualWhenItIsExcluded) {
  begin(1);
  take(training(), 1);
  agent_.store_all();
  participation_.exclude(round_->key());
  EXPECT_TRUE(round_->withdrawn());
  EXPECT_EQ(*updates_.residual().shared(), *all(1)) << "a bucket may still count";
  agent_.take();
  participation_.close();
  EXPECT_EQ(*updates_.residual().shared(), *all(0));
  SharedFloats change;
  for (const Action& action : agent_.take()) {
    if (const auto* dropped = std::get_if<ResidualDropped>(&action)) change = dropped->change;
  }
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(*change, *all(-1));
  EXPECT_EQ(updates_.residual().stamp().updates_taken, 2u);
  EXPECT_EQ(agent_.store_all().size(), 1u);
}

TEST_F(SomeParticipation, DropsItsResidualAtOnceIfTheRoundIsOver) {
  begin(1);
  take(training(), 1);
  agent_.store_all();
  const RoundKey key = round_->key();
  participation_.close();
  participation_.exclude(key);
  EXPECT_EQ(*updates_.residual().shared(), *all(0));
}

TEST_F(SomeParticipation, WithdrawsWhereTrainingFails) {
  for (const bool finite : {false, true}) {
    begin(1);
    const Token token = training();
    if (finite) {
      participation_.failed({.token = token, .status = Status(StatusCode::unavailable, {})});
    } else {
      take(token, std::numeric_limits<float>::infinity());
    }
    EXPECT_TRUE(round_->withdrawn());
    const auto aborts = agent_.sent<wire::AbortT>();
    ASSERT_EQ(aborts.size(), 1u);
    EXPECT_EQ(aborts[0].reason,
              finite ? wire::AbortReason::failure : wire::AbortReason::not_finite);
    participation_.drop();
  }
}

}  // namespace
}  // namespace tributary
