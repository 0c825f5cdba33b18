// Tests of the rule by which a combined update changes the model: the job's optimizer for
// gradients, the strategy's for deltas, the mean for buffers.
#include "core/round/common/plan/model_rule.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/round/common/plan/job_model.h"

namespace tributary {
namespace {

constexpr std::uint64_t kValues = 10;  // 6 parameters, 3 values of a buffer, 1 parameter

std::unique_ptr<wire::LayerMapT> layers() {
  auto map = wire_layers(*LayerMap::make({{.name = "weight", .shape = {2, 3}},
                                          {.name = "mean", .shape = {3}},
                                          {.name = "bias", .shape = {1}}}));
  map->layers[1]->kind = wire::LayerKind::buffer;
  return map;
}

using Change = std::function<void(wire::JobT&)>;

Result<std::shared_ptr<const JobModel>> job_of(const Change& change) {
  wire::JobT job;
  job.job = 1;
  job.revision = 1;
  job.name = "job";
  job.state = wire::JobState::running;
  job.mode = wire::ExchangeMode::gradient;
  job.rounds = 100;
  job.weighting = wire::Weighting::equal;
  job.model = std::make_unique<wire::ModelT>();
  job.model->kind = wire::ModelKind::built_in;
  job.model->name = "none";
  job.layer_map = layers();
  job.optimizer = std::make_unique<wire::OptimizerT>();
  job.optimizer->kind = wire::OptimizerKind::sgd;
  change(job);
  TRIBUTARY_ASSIGN(SharedBytes definition, keep_message(std::move(job)));
  return JobModel::make(std::move(definition));
}

std::unique_ptr<ModelRule> rule_of(const Change& change) {
  const auto job = job_of(change);
  EXPECT_TRUE(job.ok()) << job.status().text();
  auto rule = make_model_rule((*job)->wire());
  EXPECT_TRUE(rule.ok()) << rule.status().text();
  return std::move(*rule);
}

void momentum(wire::JobT& job) {
  job.optimizer->kind = wire::OptimizerKind::momentum;
  job.optimizer->momentum = 0.5;
}

// Plays one round whose sum over two agents is 2 everywhere.
FloatVector after_round(ModelRule& rule, FloatVector model) {
  const FloatVector sum(kValues, 2.0f);
  rule.begin(1);
  rule.apply({.first_value = 0, .sum = sum, .divisor = 2, .learning_rate = 0.25}, model);
  return model;
}

TEST(ModelRule, AGradientPassesTheJobsOptimizer) {
  const auto rule = rule_of(momentum);
  FloatVector model = after_round(*rule, FloatVector(kValues, 1.0f));
  EXPECT_EQ(model[0], 0.75f);
  model = after_round(*rule, model);
  EXPECT_EQ(model[0], 0.375f) << "1.5 times as far, by the momentum";
  EXPECT_EQ(model[9], 0.375f) << "behind the buffer too";
}

TEST(ModelRule, BuffersAreAveragedAndNeverOptimized) {
  const auto rule = rule_of(momentum);
  FloatVector model = after_round(*rule, FloatVector(kValues, 1.0f));
  model = after_round(*rule, model);
  for (std::size_t i = 6; i < 9; ++i) EXPECT_EQ(model[i], 0.5f) << "twice a quarter";

  const auto delta = rule_of([](wire::JobT& job) {
    job.mode = wire::ExchangeMode::delta;
    job.strategy = "fedavgm:rate=0.5";
  });
  model = after_round(*delta, FloatVector(kValues, 1.0f));
  EXPECT_EQ(model[0], 1.5f);
  EXPECT_EQ(model[7], 2.0f) << "the mean delta, whole";
}

TEST(ModelRule, ADeltaPassesTheStrategysOptimizer) {
  const auto delta = [](const char* strategy) {
    return rule_of([&](wire::JobT& job) {
      job.mode = wire::ExchangeMode::delta;
      job.optimizer->kind = wire::OptimizerKind::adam;  // the agents' optimizer
      job.strategy = strategy;
    });
  };
  for (const char* plain : {"", "fedavg", "fedprox"}) {
    EXPECT_EQ(after_round(*delta(plain), FloatVector(kValues, 1.0f))[0], 2.0f) << plain;
    EXPECT_EQ(delta(plain)->state_bytes_max(), 0u);
  }
  const auto averaged = delta("fedavgm:momentum=0.5");
  FloatVector model = after_round(*averaged, FloatVector(kValues, 1.0f));
  model = after_round(*averaged, model);
  EXPECT_EQ(model[0], 3.5f);
  for (const char* adaptive : {"fedadam:rate=0.1", "fedyogi:rate=0.1"}) {
    const auto rule = delta(adaptive);
    const float moved = after_round(*rule, FloatVector(kValues, 1.0f))[0] - 1;
    // The first step along a delta of 1: 0.1 * 0.1 / (sqrt(0.01) + 0.001)
    EXPECT_NEAR(moved, 0.1 * 0.1 / (0.1 + 0.001), 1e-4) << adaptive;
  }
}

TEST(ModelRule, ItsStateRestoresAnEqualRule) {
  const auto rule = rule_of(momentum);
  const FloatVector model = after_round(*rule, FloatVector(kValues, 1.0f));
  const auto saved = rule->save();
  ASSERT_NE(saved, nullptr);
  EXPECT_EQ(saved->size(), rule->state_bytes_max());
  const auto other = rule_of(momentum);
  ASSERT_TRUE(other->restore(*saved).ok());
  EXPECT_EQ(after_round(*other, model), after_round(*rule, model));
  EXPECT_EQ(rule_of([](wire::JobT&) {})->restore(*saved).code(), StatusCode::mismatch);
  EXPECT_TRUE(rule_of([](wire::JobT&) {})->save()->empty());
}

TEST(ModelRule, ACopyMakesTheSameStepsAndNoneForTheOther) {
  const auto rule = rule_of(momentum);
  const FloatVector model = after_round(*rule, FloatVector(kValues, 1.0f));
  const auto state = rule->save();
  const auto copy = rule->copy();
  EXPECT_EQ(*copy->save(), *state);
  EXPECT_NE(copy->save(), state) << "the first step would have to copy it";
  const FloatVector next = after_round(*copy, model);
  EXPECT_EQ(*rule->save(), *state) << "a step of the copy changed it";
  EXPECT_EQ(after_round(*rule, model), next);
  EXPECT_TRUE(rule_of([](wire::JobT&) {})->copy()->save()->empty());
}

TEST(ModelRule, InvalidSettingsAreRefusedWithTheJob) {
  const auto refusal = [](const Change& change) { return job_of(change).status(); };
  EXPECT_TRUE(refusal([](wire::JobT&) {}).ok());
  EXPECT_FALSE(refusal([](wire::JobT& job) { job.optimizer->momentum = 1.5; }).ok());
  EXPECT_FALSE(refusal([](wire::JobT& job) { job.optimizer->beta1 = -1; }).ok());
  const Status strategy = refusal([](wire::JobT& job) {
    job.mode = wire::ExchangeMode::delta;
    job.strategy = "fedadm";
  });
  EXPECT_NE(strategy.text().find("did you mean 'fedadam'"), std::string::npos) << strategy.text();
  EXPECT_FALSE(refusal([](wire::JobT& job) { job.schedule = "cosyne"; }).ok());
}

TEST(JobModel, KnowsTheLearningRateOfARound) {
  const auto job = job_of([](wire::JobT& made) { made.schedule = "step:every=10,factor=0.5"; });
  ASSERT_TRUE(job.ok()) << job.status().text();
  EXPECT_EQ((*job)->learning_rate(2, 10), 2);
  EXPECT_EQ((*job)->learning_rate(2, 11), 1);
}

// --- what a codec sees of the optimizer
// ------------------------------------------------------------

TEST(ModelRule, ShowsACodecTheStepThatFollows) {
  const auto rule = rule_of(momentum);
  FloatVector model = after_round(*rule, FloatVector(kValues, 1.0f));
  const auto view = rule->view(2, std::span<const float>(model).subspan(2, 3), 0.25);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->kind, OptimizerKind::momentum);
  EXPECT_EQ(view->learning_rate, 0.25f);
  EXPECT_EQ(view->step, 2u);
  EXPECT_EQ(view->value_scale, 1);
  EXPECT_EQ(view->parameters[0], 0.75f);
  ASSERT_EQ(view->first_moment.size(), 3u);
  EXPECT_EQ(view->first_moment[0], 1.0f);
}

// A buffer is averaged, so the optimizer's state does not describe its step.
TEST(ModelRule, ShowsNothingOfARunWithABuffer) {
  const auto rule = rule_of(momentum);
  const FloatVector model(kValues, 1.0f);
  EXPECT_FALSE(rule->view(5, std::span<const float>(model).subspan(5, 2), 1));
  EXPECT_FALSE(rule->view(0, model, 1));
  EXPECT_TRUE(rule->view(9, std::span<const float>(model).subspan(9, 1), 1));
}

// Deltas are applied by the server's optimizer, whose rate is not the agents'.
TEST(ModelRule, ShowsTheServersOptimizerForDeltas) {
  const auto rule = rule_of([](wire::JobT& job) {
    momentum(job);
    job.mode = wire::ExchangeMode::delta;
    job.strategy = "fedyogi:rate=0.125";
  });
  const FloatVector model(kValues, 1.0f);
  const auto view = rule->view(0, std::span<const float>(model).first(4), 0.5);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->kind, OptimizerKind::adam);
  EXPECT_TRUE(view->yogi);
  EXPECT_FALSE(view->bias_correction);
  EXPECT_EQ(view->learning_rate, 0.125f);
  EXPECT_EQ(view->value_scale, -1) << "a delta moves the model the other way";
}

}  // namespace
}  // namespace tributary
