// The choice of an optimizer and its hyperparameters, written as a spec such as
// "adam:beta1=0.9,weight_decay=0.0001" with the names of torch.optim. The functions are pure;
// errors are invalid_argument.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/codec/optimizer_view.h"
#include "core/codec/spec.h"

namespace tributary {

// Settings that a kind does not use are 0 or their default.
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::sgd;
  double momentum = 0;  // momentum and Nesterov; RMSProp, where it may be 0
  double beta1 = 0;     // Adam, AdamW
  double beta2 = 0;     // Adam and AdamW; the alpha of RMSProp
  double epsilon = 0;
  double weight_decay = 0;
  // Settings that torch.optim does not have. The server optimizers of "Adaptive federated
  // optimization" require them.
  bool bias_correction = true;     // Adam, AdamW
  bool yogi = false;               // Yogi: Adam whose second moment changes by at most a square
  double second_moment_start = 0;  // AdaGrad, Adam, AdamW

  // Number of floats of state per value.
  unsigned moments() const;
  friend bool operator==(const OptimizerSettings&, const OptimizerSettings&) = default;
};

// Checks the bounds of settings that were not parsed from a spec, such as those of a received job.
Status check(const OptimizerSettings& settings);

// Parses sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw, for example
// "momentum:momentum=0.8,weight_decay=0.0005". Omitted parameters have the
// defaults of torch.optim, except for a momentum of 0.9, for which torch.optim has no default.
Result<OptimizerSettings> parse_optimizer(std::string_view spec);
std::string_view name(OptimizerKind kind);

// The server's rule that turns an aggregate of deltas into a model, such as
// "fedadam:rate=0.1,tau=0.001".
struct Strategy {
  OptimizerSettings server;  // its gradient is the negative mean delta
  double server_rate = 1;
  double proximal = 0;  // FedProx's mu: pulls agents towards the round's model
};

// Parses fedavg, fedprox, fedavgm, fedadam or fedyogi.
Result<Strategy> parse_strategy(std::string_view spec);

}  // namespace tributary
