#include "core/optimizer/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "core/base/copy_on_write.h"
#include "core/codec/chunks.h"
#include "core/update/finite.h"

namespace tributary {
namespace {

// Doubles represent step numbers exactly up to this limit.
constexpr std::uint64_t kStepsMax = std::uint64_t{1} << 53;

// Uses only multiplications. pow() differs between C libraries, and replicas must agree on this
// value.
double power(double base, std::uint64_t exponent) {
  double result = 1;
  for (double square = base; exponent != 0; exponent >>= 1, square *= square) {
    if ((exponent & 1) != 0) result *= square;
  }
  return result;
}

optimizer::Run chunk_of_run(const optimizer::Run& run, std::size_t begin, std::size_t end) {
  return {.sum = run.sum + begin,
          .parameters = run.parameters + begin,
          .first = run.first ? run.first + begin : nullptr,
          .second = run.second ? run.second + begin : nullptr,
          .count = end - begin};
}

Status broken_state(std::string expected, std::string got) {
  return Status(StatusCode::mismatch, {.what = "optimizer state",
                                       .expected = std::move(expected),
                                       .got = std::move(got),
                                       .remedy = "have the model sent again"});
}

}  // namespace

namespace optimizer {

float start_of_moment(const OptimizerSettings& settings, unsigned which) {
  const bool second = uses_second(formula_of(settings)) && which + 1 == settings.moments();
  return second ? static_cast<float>(settings.second_moment_start) : 0;
}

// Adam and AdamW share a formula; they differ in the factors decay and shrink.
Formula formula_of(const OptimizerSettings& settings) {
  switch (settings.kind) {
    case OptimizerKind::sgd:
      return Formula::sgd;
    case OptimizerKind::momentum:
      return Formula::momentum;
    case OptimizerKind::nesterov:
      return Formula::nesterov;
    case OptimizerKind::adagrad:
      return Formula::adagrad;
    case OptimizerKind::rmsprop:
      return settings.momentum == 0 ? Formula::rmsprop : Formula::rmsprop_momentum;
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      return settings.yogi ? Formula::yogi : Formula::adam;
  }
  return Formula::sgd;
}

Factors factors_of(const OptimizerSettings& settings, const OptimizerStep& step) {
  const bool adamw = settings.kind == OptimizerKind::adamw;
  const bool adam = adamw || settings.kind == OptimizerKind::adam;
  double rate = step.learning_rate;
  double root_scale = 1;
  // Bias correction is folded into the rate and the root's scale, so that a value needs no division
  // for it.
  if (adam && settings.bias_correction) {
    rate /= 1 - power(settings.beta1, step.step);
    root_scale = 1 / std::sqrt(1 - power(settings.beta2, step.step));
  }
  const double shrink = adamw ? 1 - step.learning_rate * settings.weight_decay : 1;
  return {.divisor = static_cast<float>(step.divisor),
          .rate = static_cast<float>(rate),
          .decay = adamw ? 0 : static_cast<float>(settings.weight_decay),
          .shrink = static_cast<float>(shrink),
          .momentum = static_cast<float>(settings.momentum),
          .beta1 = static_cast<float>(settings.beta1),
          .one_less_beta1 = static_cast<float>(1 - settings.beta1),
          .beta2 = static_cast<float>(settings.beta2),
          .one_less_beta2 = static_cast<float>(1 - settings.beta2),
          .root_scale = static_cast<float>(root_scale),
          .epsilon = static_cast<float>(settings.epsilon)};
}

}  // namespace optimizer

Optimizer::Optimizer(const OptimizerSettings& settings, std::uint64_t values)
    : settings_(settings), values_(values) {}

std::uint64_t Optimizer::state_bytes() const {
  // An optimizer without moments has no state, and its step number does not matter.
  const std::uint64_t moments = settings_.moments();
  return moments == 0 ? 0 : optimizer::kStateHeaderBytes + moments * values_ * sizeof(float);
}

std::span<float> Optimizer::moment(unsigned which) const {
  auto* floats = reinterpret_cast<float*>(state_->data() + optimizer::kStateHeaderBytes);
  return std::span<float>(floats, settings_.moments() * values_).subspan(which * values_, values_);
}

// Makes the state exist and belong to this object alone, so that it may be changed.
void Optimizer::own() {
  if (state_) {
    tributary::own(state_);
    return;
  }
  // Bytes leaves new elements uninitialized, so they are cleared explicitly.
  state_ = std::make_shared<Bytes>(state_bytes());
  std::ranges::fill(*state_, std::uint8_t{0});
  if (settings_.second_moment_start == 0 || !uses_second(optimizer::formula_of(settings_))) return;
  const unsigned second = settings_.moments() - 1;
  std::ranges::fill(moment(second), static_cast<float>(settings_.second_moment_start));
}

void Optimizer::begin() {
  ++steps_;
  if (settings_.moments() == 0) return;
  own();
  // The saved state must contain the number of steps, so it is stored before the values change.
  std::memcpy(state_->data(), &steps_, sizeof(steps_));
}

void Optimizer::apply(std::uint64_t first_value, std::span<const float> sum, double divisor,
                      double learning_rate, std::span<float> model, const Execution& execution) {
  assert(first_value + sum.size() <= model.size() && model.size() == values_);
  optimizer::Run run = {.sum = sum.data(),
                        .parameters = model.subspan(first_value, sum.size()).data(),
                        .count = sum.size()};
  if (settings_.moments() > 0) {
    own();
    if (uses_first(optimizer::formula_of(settings_)))
      run.first = moment(0).subspan(first_value, sum.size()).data();
    if (uses_second(optimizer::formula_of(settings_))) {
      run.second = moment(settings_.moments() - 1).subspan(first_value, sum.size()).data();
    }
  }
  const OptimizerStep step = {.learning_rate = learning_rate, .divisor = divisor, .step = steps_};
  const optimizer::Formula formula = optimizer::formula_of(settings_);
  const optimizer::Factors factors = optimizer::factors_of(settings_, step);
  for_each_chunk(execution, run.count, kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   optimizer::step_simd(formula, factors, chunk_of_run(run, begin, end));
                 });
}

bool Optimizer::finite(std::uint64_t first_value, std::uint64_t values) const {
  if (!state_) return true;
  for (unsigned which = 0; which < settings_.moments(); ++which) {
    if (first_not_finite(moment(which).subspan(first_value, values))) return false;
  }
  return true;
}

std::shared_ptr<const Bytes> Optimizer::save() const { return state_; }

Optimizer Optimizer::copy() const {
  Optimizer other = *this;
  if (state_) other.own();
  return other;
}

Status Optimizer::restore(ByteSpan state) {
  if (!state.empty() && state.size() != state_bytes()) {
    return broken_state(
        fmt::format("{} bytes for {} values of {}", state_bytes(), values_, name(settings_.kind)),
        fmt::format("{}", state.size()));
  }
  if (state.empty()) {
    state_.reset();
    steps_ = 0;
    return {};
  }
  // A copy in an aligned buffer, which is checked completely before it replaces the current state.
  auto taken = std::make_shared<Bytes>(state.begin(), state.end());
  const auto* floats = reinterpret_cast<const float*>(taken->data() + optimizer::kStateHeaderBytes);
  const std::span<const float> moments(floats, settings_.moments() * values_);
  if (const auto bad = first_not_finite(moments)) {
    return broken_state("finite numbers", fmt::format("another at value {}", *bad % values_));
  }
  if (uses_second(optimizer::formula_of(settings_))) {
    const auto second = moments.last(values_);
    const auto bad = std::ranges::find_if(second, [](float value) { return value < 0; });
    if (bad != second.end()) {
      return broken_state("squares, which are not negative",
                          fmt::format("{} at value {}", *bad, bad - second.begin()));
    }
  }
  std::uint64_t steps = 0;
  std::memcpy(&steps, taken->data(), sizeof(steps));
  if (steps == 0 || steps > kStepsMax) {
    return broken_state(fmt::format("1 to {} steps", kStepsMax), fmt::format("{}", steps));
  }
  steps_ = steps;
  state_ = std::move(taken);
  return {};
}

std::optional<OptimizerView> Optimizer::view(std::uint64_t first_value,
                                             std::span<const float> parameters,
                                             double learning_rate) const {
  if (settings_.kind == OptimizerKind::rmsprop && settings_.momentum != 0) return std::nullopt;
  OptimizerView view = {.kind = settings_.kind,
                        .learning_rate = static_cast<float>(learning_rate),
                        .weight_decay = static_cast<float>(settings_.weight_decay),
                        .momentum = static_cast<float>(settings_.momentum),
                        .alpha = static_cast<float>(settings_.beta2),
                        .beta1 = static_cast<float>(settings_.beta1),
                        .beta2 = static_cast<float>(settings_.beta2),
                        .epsilon = static_cast<float>(settings_.epsilon),
                        .bias_correction = settings_.bias_correction,
                        .yogi = settings_.yogi,
                        // The view describes the moment before the next step.
                        .step = steps_ + 1,
                        .parameters = parameters};
  if (!state_) return view;
  const std::size_t count = parameters.size();
  if (uses_first(optimizer::formula_of(settings_)))
    view.first_moment = moment(0).subspan(first_value, count);
  if (uses_second(optimizer::formula_of(settings_))) {
    view.second_moment = moment(settings_.moments() - 1).subspan(first_value, count);
  }
  return view;
}

}  // namespace tributary
