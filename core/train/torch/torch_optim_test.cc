// Compares our optimizers with those of torch::optim, step by step on the same gradients.
#include <gtest/gtest.h>
#include <torch/nn/init.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/optimizer/clip.h"
#include "core/optimizer/optimizer.h"

namespace tributary {
namespace {

constexpr std::int64_t kValues = 1000;
constexpr double kRate = 0.01;

FloatVector noise(std::uint64_t seed) {
  const NormalStream normal({.job_seed = seed, .purpose = DrawPurpose::synthetic_data});
  FloatVector values(kValues);
  for (std::uint32_t i = 0; i < kValues; ++i) values[i] = static_cast<float>(normal.at(i));
  return values;
}

torch::Tensor tensor_of(const FloatVector& values) {
  return torch::tensor(at::ArrayRef<float>(values.data(), values.size()));
}

using MakeTheirs = std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<at::Tensor>)>;

template <typename Theirs, typename Options>
MakeTheirs theirs(Options options) {
  return [options](std::vector<at::Tensor> parameters) {
    return std::make_unique<Theirs>(std::move(parameters), options);
  };
}

struct Pair {
  std::string ours;
  MakeTheirs theirs;
};

std::vector<Pair> pairs() {
  using namespace torch::optim;
  return {
      {"sgd:weight_decay=0.1", theirs<SGD>(SGDOptions(kRate).weight_decay(0.1))},
      {"momentum:weight_decay=0.1", theirs<SGD>(SGDOptions(kRate).momentum(0.9).weight_decay(0.1))},
      {"nesterov:momentum=0.8", theirs<SGD>(SGDOptions(kRate).momentum(0.8).nesterov(true))},
      {"adagrad:weight_decay=0.1", theirs<Adagrad>(AdagradOptions(kRate).weight_decay(0.1))},
      {"rmsprop", theirs<RMSprop>(RMSpropOptions(kRate))},
      {"rmsprop:momentum=0.9,alpha=0.9,weight_decay=0.1",
       theirs<RMSprop>(RMSpropOptions(kRate).momentum(0.9).alpha(0.9).weight_decay(0.1))},
      {"adam:weight_decay=0.1", theirs<Adam>(AdamOptions(kRate).weight_decay(0.1))},
      {"adam:beta1=0.8,beta2=0.9,epsilon=0.001",
       theirs<Adam>(AdamOptions(kRate).betas({0.8, 0.9}).eps(1e-3))},
      {"adamw", theirs<AdamW>(AdamWOptions(kRate).weight_decay(0.01))}};
}

TEST(TorchOptim, TakesTheSameStepsToFloatRounding) {
  for (const Pair& pair : pairs()) {
    FloatVector ours = noise(1);
    at::Tensor parameter = tensor_of(ours).requires_grad_(true);
    const auto optimizer = pair.theirs({parameter});
    Optimizer our_optimizer(*parse_optimizer(pair.ours), kValues);
    for (std::uint64_t step = 0; step < 50; ++step) {
      const FloatVector gradient = noise(100 + step);
      parameter.mutable_grad() = tensor_of(gradient);
      optimizer->step();
      our_optimizer.begin();
      our_optimizer.apply(0, gradient, 1, kRate, ours);
    }
    const float* expected = parameter.data_ptr<float>();
    for (std::size_t i = 0; i < kValues; ++i) {
      ASSERT_NEAR(ours[i], expected[i], 4e-6 * (1 + std::abs(expected[i])))
          << pair.ours << " at value " << i;
    }
  }
}

TEST(TorchOptim, ClipsTheNormAlike) {
  FloatVector ours = noise(1);
  at::Tensor parameter = torch::zeros({kValues}).requires_grad_(true);
  parameter.mutable_grad() = tensor_of(ours);
  const double their_norm = torch::nn::utils::clip_grad_norm_(parameter, 0.5);
  EXPECT_NEAR(clip_by_norm(ours, 0.5), their_norm, 1e-3);
  const float* expected = parameter.grad().data_ptr<float>();
  for (std::size_t i = 0; i < kValues; ++i) ASSERT_NEAR(ours[i], expected[i], 1e-7);
}

}  // namespace
}  // namespace tributary
