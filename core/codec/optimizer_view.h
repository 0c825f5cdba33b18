// What a codec may know of the optimizer that an update is meant for: GComp truncates a gradient by
// how little of it reaches the parameter. The view is of one bucket and of the moment before the
// step that the update will be part of.
#pragma once

#include <cstdint>
#include <span>

namespace tributary {

enum class OptimizerKind : std::uint8_t { sgd, momentum, nesterov, adagrad, rmsprop, adam, adamw };

// Names as in torch.optim; what a kind does not use is ignored.
struct OptimizerView {
  OptimizerKind kind = OptimizerKind::sgd;
  float learning_rate = 0;
  float learning_rate_decay = 0;  // AdaGrad
  float weight_decay = 0;
  float momentum = 0;
  float dampening = 0;  // momentum, not Nesterov
  float alpha = 0;      // RMSProp
  float beta1 = 0;      // Adam, AdamW
  float beta2 = 0;
  float epsilon = 0;
  std::uint64_t step = 1;  // of the step to come; the first one is 1

  // One per value of the bucket. A moment may be empty: then it is zero, as before the first step.
  std::span<const float> parameters = {};
  std::span<const float> first_moment = {};   // momentum buffer, Adam's first moment
  std::span<const float> second_moment = {};  // sum or mean of squares
};

}  // namespace tributary
