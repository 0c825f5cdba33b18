// Tests of the evaluating thread: while it is busy, only the newest model waits.
#include "coordinator/evaluation/evaluator.h"

#include <gtest/gtest.h>

#include <latch>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/evaluation/evaluator_testing.h"
#include "core/train/training_job.h"

namespace tributary {
namespace {

// A trainer whose evaluation returns the single value of the model, and which blocks at the first
// model.
class SlowTrainer final : public Trainer {
 public:
  SlowTrainer(std::latch& began, std::latch& go_on) : began_(began), go_on_(go_on) {}

  Status prepare(const TrainingJob& job) override {
    ++prepared;
    if (job.loss == "cross_entropy") return {};
    return Status(StatusCode::invalid_argument, {.what = "loss"});
  }
  Result<TrainedUpdate> train(const TrainOrder&) override {
    return Status(StatusCode::unsupported, {.what = "training"});
  }
  Result<std::optional<Evaluation>> evaluate(std::span<const float> model) override {
    if (std::exchange(first_, false)) {
      began_.count_down();
      go_on_.wait();
    }
    return std::optional(Evaluation{.examples = 1, .loss = static_cast<double>(model[0])});
  }
  void cancel() override {}

  int prepared = 0;

 private:
  std::latch& began_;
  std::latch& go_on_;
  bool first_ = true;
};

class EvaluatorTest : public testing::Test {
 protected:
  ModelToEvaluate model(std::uint64_t version) {
    return {.job = 5,
            .version = version,
            .definition = definition_,
            .model = std::make_shared<const FloatVector>(1, static_cast<float>(version))};
  }
  void keep(ModelEvaluation evaluation) {
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(evaluation));
  }
  static void wait_for(const Evaluator& evaluator) {
    while (!evaluator.idle()) std::this_thread::yield();
  }

  std::latch began_{1};
  std::latch go_on_{1};
  SharedBytes definition_ = evaluator_testing::definition({});
  std::mutex mutex_;
  std::vector<ModelEvaluation> done_;
};

// During an evaluation only the newest model waits; older ones are skipped.
TEST_F(EvaluatorTest, WhileItIsBusyTheNewestModelWaitsAndTheOthersArePassedOver) {
  auto trainer = std::make_unique<SlowTrainer>(began_, go_on_);
  const SlowTrainer& seen = *trainer;
  Evaluator evaluator(std::move(trainer), [this](ModelEvaluation one) { keep(std::move(one)); });
  EXPECT_TRUE(evaluator.idle());
  evaluator.evaluate(model(1));
  began_.wait();
  for (const std::uint64_t version : {2u, 3u, 4u}) evaluator.evaluate(model(version));
  EXPECT_FALSE(evaluator.idle());
  go_on_.count_down();
  wait_for(evaluator);
  ASSERT_EQ(done_.size(), 2u);
  EXPECT_EQ(done_[0].version, 1u);
  EXPECT_EQ(done_[1].version, 4u);
  EXPECT_EQ(done_[1].job, 5u);
  ASSERT_TRUE(done_[1].outcome.ok() && *done_[1].outcome);
  EXPECT_EQ((*done_[1].outcome)->loss, 4);
  EXPECT_EQ(seen.prepared, 1);
}

// A job that the trainer refuses gives an error for each of its models.
TEST_F(EvaluatorTest, AJobThatDoesNotFitIsAnErrorEachTime) {
  go_on_.count_down();
  Evaluator evaluator(std::make_unique<SlowTrainer>(began_, go_on_),
                      [this](ModelEvaluation one) { keep(std::move(one)); });
  definition_ = evaluator_testing::definition({.loss = "mse"});
  for (const std::uint64_t version : {1u, 2u}) {
    evaluator.evaluate(model(version));
    wait_for(evaluator);
  }
  ASSERT_EQ(done_.size(), 2u);
  EXPECT_FALSE(done_[0].outcome.ok());
  EXPECT_FALSE(done_[1].outcome.ok());
}

}  // namespace
}  // namespace tributary
