// Which optimizer, and its hyperparameters: what turns an averaged gradient into a step. Written as
// a spec, "adam:beta1=0.9,weight_decay=0.0001", with the names of torch.optim.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/codec/optimizer_view.h"
#include "core/codec/spec.h"

namespace tributary {

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::sgd;
  double momentum = 0;  // momentum and Nesterov; RMSProp's may be 0
  double beta1 = 0;     // Adam, AdamW
  double beta2 = 0;     // those, and as RMSProp's alpha
  double epsilon = 0;
  double weight_decay = 0;
  // What torch.optim has not, and the server's optimizers of "Adaptive federated optimization"
  // need:
  bool bias_correction = true;     // Adam, AdamW
  bool yogi = false;               // Adam whose second moment moves by no more than a square
  double second_moment_start = 0;  // AdaGrad, Adam, AdamW

  // How many floats it remembers for every value.
  unsigned moments() const;
  friend bool operator==(const OptimizerSettings&, const OptimizerSettings&) = default;
};

Status check(const OptimizerSettings& settings);

// "momentum:momentum=0.8,weight_decay=0.0005"; what is left out is as torch.optim has it, except a
// momentum of 0.9, which torch.optim leaves to its caller.
Result<OptimizerSettings> parse_optimizer(std::string_view spec);
std::string_view name(OptimizerKind kind);

// How an aggregate of deltas becomes a model, as in "fedadam:rate=0.1,tau=0.001".
struct Strategy {
  OptimizerSettings server;  // its step is along the mean delta
  double server_rate = 1;
  double proximal = 0;  // FedProx's mu: agents are held back towards the round's model
};

Result<Strategy> parse_strategy(std::string_view spec);

}  // namespace tributary
