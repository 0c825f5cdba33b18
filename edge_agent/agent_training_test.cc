// Tests of the training thread of an agent: each order gets its answer, errors included.
#include "edge_agent/agent_training.h"

#include <gtest/gtest.h>

#include "core/base/log/memory_log_testing.h"
#include "core/service/loop/posted_events_testing.h"

namespace tributary {
namespace {

class AgentTrainingTest : public testing::Test {
 protected:
  void start(double conservation_error = -1) {
    auto trainer = make_trainer("synthetic", {.agent_id = "a"});
    ASSERT_TRUE(trainer.ok()) << trainer.status().text();
    auto metrics = open_metrics("");
    ASSERT_TRUE(metrics.ok());
    metrics_ = std::move(*metrics);
    training_ = std::make_unique<AgentTraining>(
        std::move(*trainer),
        AgentTrainingParts{
            .post = events_.poster(),
            .now = [] { return TimeNs{0}; },
            .conservation_error = [conservation_error] { return conservation_error; },
            .clock = clock_,
            .log = log_,
            .metrics = *metrics_});
  }
  static Train order(Token token) {
    return {.token = token,
            .id = {.job = 1, .round = 1, .epoch = 1, .attempt = 0},
            .training = 1,
            .model_version = 0,
            .model = std::make_shared<const FloatVector>(8, 0.5f),
            .local_steps = 1,
            .learning_rate = 0.1,
            .seed = 1};
  }

  ManualClock clock_;
  MemoryLog log_;
  std::unique_ptr<Metrics> metrics_;
  service_testing::PostedEvents events_;
  std::unique_ptr<AgentTraining> training_;  // destroyed before the queue that it posts to
};

TEST_F(AgentTrainingTest, AnOrderIsAnsweredByItsUpdate) {
  start();
  training_->train(order(7));
  const UpdateReady ready = events_.next<UpdateReady>();
  EXPECT_EQ(ready.token, 7u);
  ASSERT_NE(ready.update, nullptr);
  EXPECT_EQ(ready.update->size(), 8u);
  EXPECT_TRUE(ready.metrics.empty()) << "nothing is audited";
}

// The audit's error travels with the next update.
TEST_F(AgentTrainingTest, TheErrorOfTheAccountIsReportedWithTheUpdate) {
  start(0.25);
  training_->train(order(7));
  const UpdateReady ready = events_.next<UpdateReady>();
  ASSERT_EQ(ready.metrics.size(), 1u);
  EXPECT_EQ(ready.metrics[0].kind, ReadingKind::conservation_error);
  EXPECT_EQ(ready.metrics[0].value, 0.25);
}

// A damaged definition fails every training, not only the first.
TEST_F(AgentTrainingTest, AnInvalidDefinitionIsReportedForEveryOrder) {
  start();
  training_->set_definition(std::make_shared<const Bytes>(Bytes{1, 2, 3}));
  for (const Token token : {Token{1}, Token{2}}) {
    training_->train(order(token));
    const UpdateFailed failed = events_.next<UpdateFailed>();
    EXPECT_EQ(failed.token, token);
    EXPECT_FALSE(failed.status.ok());
  }
}

// The destructor must not wait for the queued trainings.
TEST_F(AgentTrainingTest, ItCanEndWhileOrdersWait) {
  start();
  for (Token token = 1; token <= 20; ++token) training_->train(order(token));
  training_.reset();
}

}  // namespace
}  // namespace tributary
