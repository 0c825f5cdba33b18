// Tests of the built-in networks: numbers of parameters as in their papers, and the same initial
// values for a seed.
#include "core/train/model/network_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace tributary {
namespace {

const ExampleShape kDigits = {.dims = {1, 28, 28}, .classes = 10};
const ExampleShape kPictures = {.dims = {3, 32, 32}, .classes = 10};
const ExampleShape kText = {.task = DataTask::next_token, .dims = {32}, .classes = 65};

std::uint64_t values_of(std::string_view spec, const ExampleShape& input) {
  const Result<NetworkPlan> plan = plan_network(spec, input);
  EXPECT_TRUE(plan.ok()) << plan.status().text();
  const Result<LayerMap> map = layer_map_of(*plan);
  EXPECT_TRUE(map.ok()) << map.status().text();
  return map->values();
}

TEST(NetworkPlan, ModelsHaveTheParametersOfTheirPapers) {
  EXPECT_EQ(values_of("mlp:depth=0", kDigits), 7'850u);  // depth 0 is logistic regression
  EXPECT_EQ(values_of("mlp", kDigits), 784u * 128 + 128 + 1'290);
  EXPECT_EQ(values_of("lenet", kDigits), 61'706u);
  // He et al. state 0.27 M for 20 layers; the buffers of 19 batch norms are added.
  EXPECT_EQ(values_of("resnet20", kPictures), 269'722u + 2 * 688);
  EXPECT_EQ(values_of("resnet8", kPictures), 75'290u + 2 * 16 * (3 + 2 * 2 + 4 * 2));
  const std::uint64_t block = 2 * 2 * 64 + 4 * 64 * 64 + 4 * 64 + 8 * 64 * 64 + 5 * 64;
  EXPECT_EQ(values_of("chargpt:width=64,depth=2", kText),
            2 * block + (65 + 32) * 64 + 2 * 64 + 65 * 64 + 65);
}

// Trainers update a prefix of the flat vector, so buffers must follow.
TEST(NetworkPlan, BuffersLieBehindTheParameters) {
  const Result<NetworkPlan> plan = plan_network("resnet8", kPictures);
  ASSERT_TRUE(plan.ok());
  std::set<std::string> names;
  for (std::size_t i = 0; i < plan->layers.size(); ++i) {
    EXPECT_EQ(plan->layers[i].buffer, i >= plan->parameters);
    names.insert(plan->layers[i].shape.name);
  }
  EXPECT_EQ(names.size(), plan->layers.size()) << "two layers of one name";
}

TEST(NetworkPlan, AModelBeginsTheSameFromTheSameSeed) {
  const Result<NetworkPlan> plan = plan_network("lenet", kDigits);
  ASSERT_TRUE(plan.ok());
  const FloatVector model = initial_model(*plan, 7);
  EXPECT_EQ(model, initial_model(*plan, 7));
  EXPECT_NE(model, initial_model(*plan, 8));
  const auto map = layer_map_of(*plan);
  ASSERT_EQ(model.size(), map->values());
  const Layer* weights = map->find("fc1.weight");
  ASSERT_NE(weights, nullptr);
  double square = 0;
  for (std::uint64_t i = 0; i < weights->count; ++i) {
    const float value = model[weights->offset + i];
    EXPECT_LE(std::abs(value), 0.05f) << "1 / sqrt(400)";
    square += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(square / static_cast<double>(weights->count), 1.0 / 400 / 3, 2e-5);
}

TEST(NetworkPlan, SaysWhenModelAndDataDoNotFit) {
  const auto refusal = [](std::string_view spec, const ExampleShape& input) {
    return plan_network(spec, input).status();
  };
  const Status text = refusal("lenet", kText);
  EXPECT_EQ(text.code(), StatusCode::mismatch);
  EXPECT_NE(text.text().find("tokens of 32"), std::string::npos) << text.text();
  EXPECT_EQ(refusal("lenet", {.dims = {1, 11, 28}, .classes = 10}).code(), StatusCode::mismatch);
  EXPECT_EQ(refusal("lenet", {.dims = {784}, .classes = 10}).code(), StatusCode::mismatch);
  EXPECT_EQ(refusal("resnet8", {.dims = {3, 4, 4}, .classes = 10}).code(), StatusCode::mismatch);
  EXPECT_EQ(refusal("chargpt", kDigits).code(), StatusCode::mismatch);
  EXPECT_EQ(refusal("mlp", kText).code(), StatusCode::mismatch);
  EXPECT_EQ(refusal("mlp", {.dims = {3}, .classes = 0}).code(), StatusCode::mismatch);
  EXPECT_EQ(refusal("chargpt:width=65,heads=4", kText).code(), StatusCode::invalid_argument);
  const Status name = refusal("lenett", kDigits);
  EXPECT_NE(name.text().find("did you mean 'lenet'"), std::string::npos) << name.text();
}

}  // namespace
}  // namespace tributary
