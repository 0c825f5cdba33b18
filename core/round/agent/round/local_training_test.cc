// Tests of the requests for training and their answers. Answers to earlier requests must not count.
#include "core/round/agent/round/local_training.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::all;

// The training of an agent. The test plays the trainer.
class SomeTraining : public testing::Test {
 protected:
  void SetUp() override { agent_.have_model(); }
  Train start(std::uint64_t round, std::uint32_t exchange = 0) {
    training_.start(agent_.round_plan(round), exchange, round - 1, all(0));
    const Actions actions = agent_.take();
    EXPECT_EQ(round_testing::count<Train>(actions), 1);
    return std::get<Train>(actions.front());
  }

  AgentParts agent_;
  LocalTraining training_{agent_.context};
};

TEST_F(SomeTraining, ExpectsTheAnswerToTheLastRequestAlone) {
  const Token first = start(1).token;
  EXPECT_NE(training_.expected(first), nullptr);
  EXPECT_EQ(training_.end().token, first);
  EXPECT_EQ(training_.expected(first), nullptr);
  const Token second = start(2).token;
  EXPECT_NE(second, first);
  EXPECT_EQ(training_.expected(first), nullptr);
  EXPECT_NE(training_.expected(second), nullptr);
}

TEST_F(SomeTraining, CountsTheTrainingsOfAJob) {
  EXPECT_EQ(start(3).training, 3u);
  EXPECT_EQ(start(3).model_version, 2u);
}

TEST_F(SomeTraining, DropsAKeptUpdateOfAForgottenTraining) {
  for (const bool forgotten : {false, true}) {
    const Token token = start(1).token;
    training_.keep({.token = token, .update = all(1)});
    EXPECT_TRUE(training_.keeps());
    if (forgotten) training_.forget();
    EXPECT_EQ(training_.release().has_value(), !forgotten);
    EXPECT_FALSE(training_.keeps());
  }
}

// A training for round 2 that begins while round 1 is being committed.
class ATrainingAhead : public SomeTraining {
 protected:
  Train start_ahead() {
    training_.start_ahead(*agent_.round_plan(1), false, model_);
    const Actions actions = agent_.take();
    EXPECT_EQ(round_testing::count<Train>(actions), 1);
    return std::get<Train>(actions.front());
  }
  // Returns the number of trainings that were requested.
  int start_round(std::uint64_t round, const SharedFloats& model) {
    const bool ahead = training_.start(agent_.round_plan(round), 0, round - 1, model);
    const int requested = round_testing::count<Train>(agent_.take());
    EXPECT_EQ(ahead, requested == 0);
    return requested;
  }

  SharedFloats model_ = all(1);
};

TEST_F(ATrainingAhead, IsTheTrainingOfItsRound) {
  const Train order = start_ahead();
  EXPECT_EQ(order.training, 2u);
  EXPECT_EQ(order.id.round, 2u);
  EXPECT_EQ(order.model_version, 1u);
  EXPECT_EQ(training_.running(), nullptr) << "it belongs to no round yet";
  EXPECT_EQ(start_round(2, model_), 0);
  ASSERT_NE(training_.expected(order.token), nullptr);
  EXPECT_EQ(training_.running()->plan->key().round, 2u);
  EXPECT_FALSE(training_.keeps());
}

TEST_F(ATrainingAhead, KeepsAnUpdateThatIsReadyBeforeItsRound) {
  UpdateReady update{.token = start_ahead().token, .update = all(3)};
  EXPECT_TRUE(training_.take_ahead(update));
  EXPECT_FALSE(training_.keeps());
  EXPECT_EQ(start_round(2, model_), 0);
  EXPECT_EQ(*training_.release()->update, *all(3));
}

// Another model, round or settings give another update. So does a training that has failed.
TEST_F(ATrainingAhead, IsForgottenIfTheRoundNeedsAnother) {
  for (const auto& [round, model] : {std::pair(2u, SharedFloats(all(1))), std::pair(3u, model_)}) {
    UpdateReady update{.token = start_ahead().token, .update = all(3)};
    EXPECT_TRUE(training_.take_ahead(update));
    EXPECT_EQ(start_round(round, model), 1);
    EXPECT_FALSE(training_.keeps());
    EXPECT_FALSE(training_.take_ahead(update));
    training_.end();
  }
  const Token failed = start_ahead().token;
  EXPECT_TRUE(training_.ahead_failed(failed));
  EXPECT_FALSE(training_.ahead_failed(failed));
  EXPECT_EQ(start_round(2, model_), 1);
  training_.end();
  start_ahead();
  training_.forget_ahead();
  EXPECT_EQ(start_round(2, model_), 1);
}

}  // namespace
}  // namespace tributary
