// A read-only view of the optimizer's state that a codec may use when it encodes an update.
//
// GComp truncates each gradient value according to how much of it changes the parameter. The view
// covers one bucket, at the moment before the step to which the update will belong. It owns
// nothing; the caller keeps the spans alive and unchanged during the encoding.
#pragma once

#include <cstdint>
#include <span>

namespace tributary {

// The optimizers that the runtime implements.
enum class OptimizerKind : std::uint8_t { sgd, momentum, nesterov, adagrad, rmsprop, adam, adamw };

// Fields are named as in torch.optim. Fields that the kind does not use are ignored. RMSProp has no
// momentum here.
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
  bool bias_correction = true;  // Adam, AdamW
  bool yogi = false;            // Adam whose second moment moves by at most one square
  std::uint64_t step = 1;       // number of the next step; the first is 1
  // One agent's encoded value times this is that agent's gradient. Negative for deltas, which move
  // the parameters in the opposite direction.
  float value_scale = 1;

  // One element per value of the bucket. An empty moment means zero, as before the first step.
  std::span<const float> parameters = {};
  std::span<const float> first_moment = {};   // momentum buffer, or the first moment of Adam
  std::span<const float> second_moment = {};  // AdaGrad: sum of squares; others: mean
};

}  // namespace tributary
