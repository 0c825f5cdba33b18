#include "core/optimizer/settings.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/base/nearest.h"

namespace tributary {
namespace {

// Upper limit of factors that must stay below 1, or the moments would grow without bound.
constexpr double kAlmostOne = 0.9999999;

// A non-negative real parameter.
constexpr ParamSpec number(std::string_view name, std::string_view default_value, double max,
                           std::string_view help) {
  return {.name = name,
          .kind = ParamKind::real,
          .default_value = default_value,
          .min = 0,
          .max = max,
          .help = help};
}

constexpr ParamSpec kWeightDecay =
    number("weight_decay", "0", 1e3, "this share of a parameter is added to its gradient");
constexpr ParamSpec kMomentum =
    number("momentum", "0.9", kAlmostOne, "share of the last step that goes on");
constexpr ParamSpec kBeta1 = number("beta1", "0.9", kAlmostOne, "memory of the gradient's mean");
constexpr ParamSpec kBeta2 = number("beta2", "0.999", kAlmostOne, "memory of its square's mean");
constexpr ParamSpec kEpsilon = number("epsilon", "1e-08", 1e3, "added to the root");

constexpr std::array kSgdParams = {kWeightDecay};
constexpr std::array kMomentumParams = {kMomentum, kWeightDecay};
// torch.optim has another default epsilon for AdaGrad than for Adam.
constexpr std::array kAdagradParams = {number("epsilon", "1e-10", 1e3, "added to the root"),
                                       kWeightDecay,
                                       number("start", "0", 1e9, "of the sum of squares")};
constexpr std::array kRmspropParams = {
    number("alpha", "0.99", kAlmostOne, "memory of the square's mean"), kEpsilon,
    number("momentum", "0", kAlmostOne, "share of the last step that goes on"), kWeightDecay};
constexpr std::array kAdamParams = {kBeta1, kBeta2, kEpsilon, kWeightDecay};
constexpr std::array kAdamwParams = {
    kBeta1, kBeta2, kEpsilon,
    number("weight_decay", "0.01", 1e3, "shrinks the parameters, times the learning rate")};

constexpr ParamSpec kServerRate = number("rate", "1", 1e6, "of the server's step");
constexpr std::array kFedproxParams = {
    number("mu", "0.01", 1e6, "how strongly agents are held back")};
constexpr std::array kFedavgmParams = {kServerRate, kMomentum};
constexpr std::array kFedadaptiveParams = {
    number("rate", "0.01", 1e6, "of the server's step"), kBeta1,
    number("beta2", "0.99", kAlmostOne, "memory of the square's mean"),
    number("tau", "0.001", 1e3, "added to the root; the smaller, the more adaptive")};

// The name of an optimizer or a strategy, with the parameters of its spec.
struct Family {
  std::string_view name;
  std::span<const ParamSpec> params;
};

// In the order of OptimizerKind, which parse_optimizer() relies on.
constexpr std::array<Family, 7> kOptimizers = {{{"sgd", kSgdParams},
                                                {"momentum", kMomentumParams},
                                                {"nesterov", kMomentumParams},
                                                {"adagrad", kAdagradParams},
                                                {"rmsprop", kRmspropParams},
                                                {"adam", kAdamParams},
                                                {"adamw", kAdamwParams}}};
constexpr std::array<Family, 5> kStrategies = {{{"fedavg", {}},
                                                {"fedprox", kFedproxParams},
                                                {"fedavgm", kFedavgmParams},
                                                {"fedadam", kFedadaptiveParams},
                                                {"fedyogi", kFedadaptiveParams}}};

template <std::size_t kCount>
constexpr std::array<std::string_view, kCount> names_of(const std::array<Family, kCount>& all) {
  std::array<std::string_view, kCount> names;
  for (std::size_t i = 0; i < kCount; ++i) names[i] = all[i].name;
  return names;
}
constexpr auto kOptimizerNames = names_of(kOptimizers);
constexpr auto kStrategyNames = names_of(kStrategies);

struct Parsed {
  std::size_t family;
  Params params;
};

// Parses a spec by a list of families. `what` is the place that error texts name.
template <std::size_t kCount>
Result<Parsed> parse(std::string_view what, std::string_view spec,
                     const std::array<Family, kCount>& families,
                     std::span<const std::string_view> names) {
  TRIBUTARY_ASSIGN(const SpecText text, split_spec(spec));
  for (std::size_t i = 0; i < kCount; ++i) {
    if (families[i].name != text.name) continue;
    Result<Params> params = Params::make(text, families[i].params);
    if (!params.ok()) return std::move(params).status().at(what);
    return Parsed{.family = i, .params = std::move(*params)};
  }
  return Status(StatusCode::invalid_argument, {.what = std::string(what),
                                               .expected = "an optimizer of this version",
                                               .got = fmt::format("'{}'", text.name),
                                               .remedy = did_you_mean(text.name, names)});
}

// NaN is not in any range.
Status in_range(std::string_view what, double value, double max) {
  if (value >= 0 && value <= max) return {};
  return Status(StatusCode::invalid_argument, {.what = fmt::format("optimizer: {}", what),
                                               .expected = fmt::format("0 to {}", max),
                                               .got = fmt::format("{}", value),
                                               .remedy = "correct the job"});
}

}  // namespace

unsigned OptimizerSettings::moments() const {
  switch (kind) {
    case OptimizerKind::sgd:
      return 0;
    case OptimizerKind::momentum:
    case OptimizerKind::nesterov:
    case OptimizerKind::adagrad:
      return 1;
    case OptimizerKind::rmsprop:
      return momentum == 0 ? 1 : 2;
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      return 2;
  }
  return 0;
}

Status check(const OptimizerSettings& settings) {
  TRIBUTARY_TRY(in_range("momentum", settings.momentum, kAlmostOne));
  TRIBUTARY_TRY(in_range("beta1", settings.beta1, kAlmostOne));
  TRIBUTARY_TRY(in_range("beta2", settings.beta2, kAlmostOne));
  TRIBUTARY_TRY(in_range("epsilon", settings.epsilon, 1e3));
  TRIBUTARY_TRY(in_range("weight_decay", settings.weight_decay, 1e3));
  return in_range("second_moment_start", settings.second_moment_start, 1e9);
}

Result<OptimizerSettings> parse_optimizer(std::string_view spec) {
  TRIBUTARY_ASSIGN(const Parsed parsed, parse("optimizer", spec, kOptimizers, kOptimizerNames));
  const Params& params = parsed.params;
  OptimizerSettings settings;
  settings.kind = static_cast<OptimizerKind>(parsed.family);
  settings.weight_decay = params.real("weight_decay");
  switch (settings.kind) {
    case OptimizerKind::sgd:
      break;
    case OptimizerKind::momentum:
    case OptimizerKind::nesterov:
      settings.momentum = params.real("momentum");
      break;
    case OptimizerKind::adagrad:
      settings.epsilon = params.real("epsilon");
      settings.second_moment_start = params.real("start");
      break;
    case OptimizerKind::rmsprop:
      // RMSProp's alpha has the role of beta2, so the formulas share the field.
      settings.beta2 = params.real("alpha");
      settings.epsilon = params.real("epsilon");
      settings.momentum = params.real("momentum");
      break;
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      settings.beta1 = params.real("beta1");
      settings.beta2 = params.real("beta2");
      settings.epsilon = params.real("epsilon");
      break;
  }
  return settings;
}

std::string_view name(OptimizerKind kind) {
  return kOptimizerNames[static_cast<std::size_t>(kind)];
}

Result<Strategy> parse_strategy(std::string_view spec) {
  TRIBUTARY_ASSIGN(const Parsed parsed, parse("strategy", spec, kStrategies, kStrategyNames));
  const Params& params = parsed.params;
  const std::string_view family = kStrategyNames[parsed.family];
  Strategy strategy;
  // FedAvg and FedProx use the default server: SGD with rate 1, which adds the mean delta.
  if (family == "fedprox") strategy.proximal = params.real("mu");
  if (family == "fedavgm") {
    strategy.server.kind = OptimizerKind::momentum;
    strategy.server.momentum = params.real("momentum");
    strategy.server_rate = params.real("rate");
  }
  if (family == "fedadam" || family == "fedyogi") {
    // The paper starts the second moment at tau², so that the first steps are not too large.
    const double tau = params.real("tau");
    strategy.server = {.kind = OptimizerKind::adam,
                       .beta1 = params.real("beta1"),
                       .beta2 = params.real("beta2"),
                       .epsilon = tau,
                       .bias_correction = false,
                       .yogi = family == "fedyogi",
                       .second_moment_start = tau * tau};
    strategy.server_rate = params.real("rate");
  }
  return strategy;
}

}  // namespace tributary
