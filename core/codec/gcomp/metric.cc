#include "core/codec/gcomp/metric.h"

namespace tributary::gcomp {
namespace {

// Computes a power by squaring, in one order of operations. The bits are the same on every machine,
// which pow() does not guarantee.
double power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace

MetricCoefficients metric_coefficients(const OptimizerView& view, std::uint32_t contributors) {
  const double eta = static_cast<double>(view.learning_rate);
  const double lambda = static_cast<double>(view.weight_decay);
  const double mu = static_cast<double>(view.momentum);
  const double tau = static_cast<double>(view.dampening);
  const double beta1 = static_cast<double>(view.beta1);
  const double beta2 = static_cast<double>(view.beta2);
  const double alpha = static_cast<double>(view.alpha);

  double scale = 1;
  double moment = 0;
  double rate = eta;
  double keep = 0;
  double add = 0;
  double decay = 0;
  double weight_decay = lambda;
  switch (view.kind) {
    case OptimizerKind::sgd:
      scale = 1 - eta * lambda;
      break;
    case OptimizerKind::momentum:
      scale = 1 - eta * (1 - tau) * lambda;
      moment = eta * mu;
      rate = eta * (1 - tau);
      break;
    case OptimizerKind::nesterov:
      scale = 1 - eta * lambda * (1 + mu);
      moment = eta * mu * mu;
      rate = eta * (1 + mu);
      break;
    case OptimizerKind::adagrad:
      rate = eta / (1 + static_cast<double>(view.step - 1) *
                            static_cast<double>(view.learning_rate_decay));
      keep = add = 1;
      decay = rate * lambda;
      break;
    case OptimizerKind::rmsprop:
      keep = alpha;
      add = 1 - alpha;
      decay = eta * lambda;
      break;
    case OptimizerKind::adam:
    case OptimizerKind::adamw: {
      const double second_correction = view.bias_correction ? 1 - power(beta2, view.step) : 1;
      scale = view.bias_correction ? 1 - power(beta1, view.step) : 1;
      moment = eta * beta1;
      rate = eta * (1 - beta1);
      // Yogi's second moment moves by one square, up or down. The lower of the two gives the
      // smaller metric, so that no bit is left out that counts. A negative one gives NaN, which is
      // level 0.
      keep = (view.yogi ? 1 : beta2) / second_correction;
      add = (view.yogi ? beta2 - 1 : 1 - beta2) / second_correction;
      if (view.kind == OptimizerKind::adam) {
        decay = rate * lambda;
      } else {
        scale *= 1 - eta * lambda;
        weight_decay = 0;
      }
      break;
    }
  }
  // Coefficients are computed in double and rounded once.
  return {.adaptive = keep != 0 || add != 0,
          .gradient = static_cast<float>(static_cast<double>(view.value_scale) / contributors),
          .scale = static_cast<float>(scale),
          .moment = static_cast<float>(moment),
          .rate = static_cast<float>(rate),
          .keep = static_cast<float>(keep),
          .add = static_cast<float>(add),
          .epsilon = view.epsilon,
          .decay = static_cast<float>(decay),
          .weight_decay = static_cast<float>(weight_decay)};
}

}  // namespace tributary::gcomp
