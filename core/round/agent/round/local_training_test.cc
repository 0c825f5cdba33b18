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

}  // namespace
}  // namespace tributary
