// Tests of training models in libtorch: gradients, losses, buffers and determinism.
#include "core/train/torch/torch_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/optimizer/optimizer.h"

namespace tributary {
namespace {

const ExampleShape kModelPictures = {.dims = {3, 16, 16}, .classes = 4};
const ExampleShape kModelText = {.task = DataTask::next_token, .dims = {8}, .classes = 11};

// Features that depend on the label, so that a model can learn them; tokens follow a fixed rule.
Batch model_batch(const ExampleShape& shape, std::size_t count, std::uint64_t seed = 1) {
  const StreamKey key = stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data});
  std::uint32_t at = 0;
  const auto bits = [&] { return random_bits(key, at++); };
  Batch batch;
  batch.count = count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::int64_t>(shape.classes == 0 ? 0 : bits() % shape.classes);
    for (std::size_t v = 0; v < shape.values(); ++v) {
      if (shape.task == DataTask::next_token) {
        batch.tokens.push_back(static_cast<std::int64_t>(bits() % shape.classes));
        batch.labels.push_back((batch.tokens.back() * 3 + 1) % shape.classes);
      } else {
        batch.features.push_back(uniform_01(bits()) - 0.5f +
                                 (v % 4 == static_cast<std::size_t>(label) ? 1.0f : 0.0f));
      }
    }
    if (shape.task == DataTask::classification) batch.labels.push_back(label);
    for (std::uint32_t o = 0; o < shape.outputs; ++o) batch.targets.push_back(uniform_01(bits()));
  }
  return batch;
}

// A built-in model together with its memory.
struct HeldModel {
  explicit HeldModel(std::string_view spec, const ExampleShape& input = kModelPictures) {
    const Result<NetworkPlan> plan = plan_network(spec, input);
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    values = initial_model(*plan, 3);
    auto made = TorchModel::make(*plan);
    EXPECT_TRUE(made.ok()) << made.status().text();
    model = std::move(*made);
    EXPECT_EQ(model->layers().hash(), layer_map_of(*plan)->hash());
    gradient.assign(model->parameter_values(), 0.0f);
    model->bind({.parameters = parameters(), .buffers = buffers(), .gradients = gradient});
  }
  std::span<float> parameters() { return std::span(values).first(model->parameter_values()); }
  std::span<float> buffers() { return std::span(values).subspan(model->parameter_values()); }

  FloatVector values;
  FloatVector gradient;
  std::unique_ptr<TorchModel> model;
};

// Compares gradients with difference quotients at some values of every layer.
TEST(TorchModel, GradientsAreThoseOfTheLoss) {
  const std::map<std::string, ExampleShape> models = {{"mlp:hidden=8", kModelPictures},
                                                      {"lenet", kModelPictures},
                                                      {"resnet8", kModelPictures},
                                                      {"chargpt:width=16,depth=1", kModelText}};
  for (const auto& [spec, shape] : models) {
    HeldModel held(spec, shape);
    const Batch batch = model_batch(shape, 16);
    const Result<double> loss = held.model->add_gradient(batch, Loss::cross_entropy, 1);
    ASSERT_TRUE(loss.ok()) << loss.status().text();
    const FloatVector gradient = held.gradient;
    for (const Layer& layer : held.model->layers().layers()) {
      if (layer.offset >= held.model->parameter_values()) continue;
      const std::uint64_t at = layer.offset + layer.count / 2;
      const float before = held.values[at];
      const auto loss_at = [&](float value) {
        held.values[at] = value;
        const double there = *held.model->add_gradient(batch, Loss::cross_entropy, 1);
        held.values[at] = before;
        return there;
      };
      const float step = 1e-3f;  // so short that few units change sides
      const double slope = (loss_at(before + step) - loss_at(before - step)) / (2.0 * step);
      EXPECT_NEAR(gradient[at], slope, 0.03 * std::abs(slope) + 2e-3) << spec << ", " << layer.name;
    }
  }
}

// 1 + 0.5 times the same gradient, up to rounding.
TEST(TorchModel, GradientsAreAddedInPlaceAndScaled) {
  HeldModel held("lenet");
  const Batch batch = model_batch(kModelPictures, 8);
  ASSERT_TRUE(held.model->add_gradient(batch, Loss::cross_entropy, 1).ok());
  const FloatVector once = held.gradient;
  EXPECT_TRUE(std::ranges::any_of(once, [](float g) { return g != 0; }));
  ASSERT_TRUE(held.model->add_gradient(batch, Loss::cross_entropy, 0.5).ok());
  for (std::size_t i = 0; i < once.size(); ++i) {
    ASSERT_NEAR(held.gradient[i], 1.5f * once[i], 1e-5f * std::abs(once[i]) + 1e-7f);
  }
}

// Replicas are compared by hash, so a difference in the last bit would count.
TEST(TorchModel, TheSameBatchGivesTheSameBits) {
  const auto gradient_of = [](std::string_view spec) {
    HeldModel held(spec);
    EXPECT_TRUE(
        held.model->add_gradient(model_batch(kModelPictures, 8), Loss::cross_entropy, 1).ok());
    return held.gradient;
  };
  EXPECT_EQ(gradient_of("resnet8"), gradient_of("resnet8"));
}

// Every value is reported exactly once and does not change afterwards, because it may already be on
// its way.
TEST(TorchModel, ReportsReadyGradientsFromTheLastLayerToTheFirst) {
  for (const auto* spec : {"lenet", "resnet8"}) {
    HeldModel held(spec);
    std::vector<bool> is_ready(held.gradient.size(), false);
    std::uint64_t first_ready = 0;
    std::uint64_t last_ready = 0;
    FloatVector when_ready(held.gradient.size());
    const auto ready = [&](std::uint64_t first, std::uint64_t count) {
      if (std::ranges::find(is_ready, true) == is_ready.end()) first_ready = first;
      last_ready = first;
      for (std::uint64_t i = first; i < first + count; ++i) {
        ASSERT_FALSE(is_ready[i]) << i << " twice";
        is_ready[i] = true;
        when_ready[i] = held.gradient[i];
      }
    };
    const TorchModel::GradientReady hook(ready);
    ASSERT_TRUE(
        held.model->add_gradient(model_batch(kModelPictures, 8), Loss::cross_entropy, 1, &hook)
            .ok());
    EXPECT_EQ(std::ranges::find(is_ready, false), is_ready.end());
    EXPECT_EQ(when_ready, held.gradient) << "a gradient changed after it was ready";
    EXPECT_GT(first_ready, held.gradient.size() / 2);
    EXPECT_LT(last_ready, 1000u);
  }
}

// Only training moves them.
TEST(TorchModel, BatchNormKeepsItsStatisticsInTheBuffers) {
  HeldModel held("resnet8");
  const FloatVector before(held.buffers().begin(), held.buffers().end());
  const Batch batch = model_batch(kModelPictures, 8);
  ASSERT_TRUE(held.model->evaluate(batch, Loss::cross_entropy).ok());
  EXPECT_TRUE(std::ranges::equal(before, held.buffers())) << "evaluation must not change them";
  ASSERT_TRUE(held.model->add_gradient(batch, Loss::cross_entropy, 1).ok());
  EXPECT_FALSE(std::ranges::equal(before, held.buffers()));
}

// 60 steps of Adam on 32 examples, which each model has to learn by heart.
TEST(TorchModel, EveryModelLearnsItsExamples) {
  const std::map<std::string, ExampleShape> models = {{"mlp:depth=0", kModelPictures},
                                                      {"lenet", kModelPictures},
                                                      {"resnet8", kModelPictures},
                                                      {"chargpt:width=16,depth=1", kModelText}};
  for (const auto& [spec, shape] : models) {
    HeldModel held(spec, shape);
    const Batch batch = model_batch(shape, 32);
    Optimizer adam(*parse_optimizer("adam"), held.gradient.size());
    const double before = held.model->evaluate(batch, Loss::cross_entropy)->loss;
    for (int step = 0; step < 60; ++step) {
      std::ranges::fill(held.gradient, 0.0f);
      ASSERT_TRUE(held.model->add_gradient(batch, Loss::cross_entropy, 1).ok());
      adam.begin();
      adam.apply(0, held.gradient, 1, 0.01, held.parameters());
    }
    const Result<Evaluation> after = held.model->evaluate(batch, Loss::cross_entropy);
    ASSERT_TRUE(after.ok());
    EXPECT_LT(after->loss, before / 2) << spec;
    EXPECT_GT(after->accuracy, 0.7) << spec;
    EXPECT_EQ(after->examples, batch.labels.size());
  }
}

// A linear model with weights of 1, -1, 0.5 and 0, so that each loss can be computed by hand.
TEST(TorchModel, LossesAreTheirDefinitions) {
  const ExampleShape two = {.dims = {1}, .classes = 2};
  Batch batch;
  batch.count = 2;
  batch.features = {1, 2};
  batch.labels = {0, 1};
  HeldModel held("mlp:depth=0", two);  // weights 2 x 1, then biases
  std::ranges::copy(std::vector<float>{1, -1, 0.5f, 0}, held.values.begin());
  // The logits are (1.5, -1) and (2.5, -2).
  const auto loss = [&](Loss kind) { return held.model->evaluate(batch, kind)->loss; };
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  EXPECT_NEAR(loss(Loss::cross_entropy), (softplus(-2.5) + softplus(4.5)) / 2, 1e-6);
  EXPECT_NEAR(loss(Loss::mse), (0.25 + 1 + 6.25 + 9) / 4, 1e-6);
  EXPECT_NEAR(loss(Loss::bce), (softplus(-1.5) + softplus(-1) + softplus(2.5) + softplus(2)) / 4,
              1e-6);
  EXPECT_EQ(held.model->evaluate(batch, Loss::cross_entropy)->accuracy, 0.5);

  const ExampleShape line = {.task = DataTask::regression, .dims = {1}, .classes = 0, .outputs = 1};
  HeldModel regression("mlp:depth=0", line);
  std::ranges::copy(std::vector<float>{2, 1}, regression.values.begin());
  batch.labels.clear();
  batch.targets = {3, 6};
  EXPECT_NEAR(regression.model->evaluate(batch, Loss::mse)->loss, 0.5, 1e-6);
  EXPECT_EQ(regression.model->evaluate(batch, Loss::cross_entropy).status().code(),
            StatusCode::mismatch);
}

// One parameter is not a number. The remedy names the usual cause, the learning rate.
TEST(TorchModel, ALossThatIsNotFiniteIsAnError) {
  HeldModel held("lenet");
  held.values[100] = std::nanf("");
  const Status status =
      held.model->add_gradient(model_batch(kModelPictures, 4), Loss::cross_entropy, 1).status();
  EXPECT_EQ(status.code(), StatusCode::not_finite);
  EXPECT_NE(status.text().find("learning rate"), std::string::npos) << status.text();
}

// libtorch would throw, and on a GPU abort.
TEST(TorchModel, ABatchThatDoesNotFitIsAnError) {
  HeldModel held("mlp", kModelPictures);
  Batch batch = model_batch(kModelPictures, 4);
  batch.labels[2] = 9;  // only four classes exist
  EXPECT_EQ(held.model->add_gradient(batch, Loss::cross_entropy, 1).status().code(),
            StatusCode::mismatch);
}

// A misspelt loss gets a suggestion.
TEST(ParseLoss, NamesTheNearest) {
  EXPECT_EQ(*parse_loss("bce"), Loss::bce);
  const Status status = parse_loss("cross_entopy").status();
  EXPECT_NE(status.text().find("did you mean 'cross_entropy'"), std::string::npos);
}

}  // namespace
}  // namespace tributary
