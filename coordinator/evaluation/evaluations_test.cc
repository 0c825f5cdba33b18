// Tests of evaluating committed models: which rounds, and how failures are reported.
#include "coordinator/evaluation/evaluations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/evaluation/evaluator_testing.h"
#include "core/base/log/memory_log_testing.h"
#include "core/train/training_job.h"

namespace tributary {
namespace {

// A trainer whose evaluation returns the single value of the model. Without a test part it returns
// nothing.
class Echo final : public Trainer {
 public:
  explicit Echo(bool has_test_part) : has_test_part_(has_test_part) {}

  Status prepare(const TrainingJob&) override { return {}; }
  Result<TrainedUpdate> train(const TrainOrder&) override {
    return Status(StatusCode::unsupported, {.what = "training"});
  }
  Result<std::optional<Evaluation>> evaluate(std::span<const float> model) override {
    if (!has_test_part_) return std::optional<Evaluation>();
    return std::optional(Evaluation{.examples = 1, .loss = static_cast<double>(model[0])});
  }
  void cancel() override {}

 private:
  const bool has_test_part_;
};

class EvaluationsTest : public testing::Test {
 protected:
  // Waits for each evaluation, so that no model is skipped.
  void commit_all(Evaluations& evaluations, const evaluator_testing::EvaluatedJob& job) {
    const SharedBytes definition = evaluator_testing::definition(job);
    for (std::uint64_t version = 1; version <= job.rounds; ++version) {
      evaluations.committed(
          {.job = 5,
           .version = version,
           .definition = definition,
           .model = std::make_shared<const FloatVector>(1, static_cast<float>(version))});
      while (!evaluations.idle()) std::this_thread::yield();
    }
    evaluations.report();
  }
  std::vector<std::pair<std::uint64_t, double>> losses() {
    std::vector<std::pair<std::uint64_t, double>> losses;
    for (const Reading& reading : std::exchange(readings_, {})) {
      EXPECT_EQ(reading.job, 5u);
      if (reading.kind == ReadingKind::evaluation_loss) {
        losses.emplace_back(reading.round, reading.value);
      }
    }
    return losses;
  }
  std::ptrdiff_t logged(LogLevel level) const {
    return std::ranges::count(log_.entries(), level, &MemoryLog::Entry::level);
  }

  MemoryLog log_;
  std::vector<Reading> readings_;
  Audience audience_{log_, [this](const Reading& reading) { readings_.push_back(reading); }};
};

using Losses = std::vector<std::pair<std::uint64_t, double>>;

// The last version is evaluated even if evaluate_every does not divide it.
TEST_F(EvaluationsTest, AreOfEverySoManyRoundsAndTheLast) {
  Evaluations evaluations(std::make_unique<Echo>(true), audience_);
  commit_all(evaluations, {.rounds = 5, .evaluate_every = 2});
  EXPECT_EQ(losses(), (Losses{{2, 2}, {4, 4}, {5, 5}}));
  EXPECT_EQ(logged(LogLevel::info), 3);
}

// With evaluate_every 0, only the last version is evaluated, and its result is published once.
TEST_F(EvaluationsTest, AreOfTheLastAloneWhereTheJobRequestsNone) {
  Evaluations evaluations(std::make_unique<Echo>(true), audience_);
  commit_all(evaluations, {.rounds = 3});
  EXPECT_EQ(losses(), (Losses{{3, 3}}));
  evaluations.report();
  EXPECT_EQ(losses(), Losses{}) << "told once";
}

// A failed evaluation is logged as an error and stores no reading.
TEST_F(EvaluationsTest, FailedEvaluationsAreLoggedWithoutAFigure) {
  Evaluations evaluations(std::make_unique<Echo>(false), audience_);
  commit_all(evaluations, {.rounds = 2, .evaluate_every = 1});
  EXPECT_EQ(losses(), Losses{});
  EXPECT_EQ(logged(LogLevel::error), 2);
}

TEST_F(EvaluationsTest, AreNoneWithoutATestSet) {
  const auto evaluations = Evaluations::open({}, audience_);
  ASSERT_TRUE(evaluations.ok()) << evaluations.status().text();
  EXPECT_EQ(*evaluations, nullptr);
}

}  // namespace
}  // namespace tributary
