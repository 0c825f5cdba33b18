// The values before a step of an optimizer, and the step on a device, for tests.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/device_testing.h"
#include "core/codec/cuda/optimizer/step.h"
#include "core/optimizer/kernels_testing.h"

namespace tributary::TRIBUTARY_DEVICE {

inline constexpr optimizer::Formula kFormulas[] = {
    optimizer::Formula::sgd,     optimizer::Formula::momentum, optimizer::Formula::nesterov,
    optimizer::Formula::adagrad, optimizer::Formula::rmsprop,  optimizer::Formula::rmsprop_momentum,
    optimizer::Formula::adam,    optimizer::Formula::yogi};

// No factor is neutral, so that a formula that leaves one out has other bits.
inline constexpr optimizer::Factors kStepFactors = {.divisor = 3,
                                                    .rate = 0.01f,
                                                    .decay = 0.02f,
                                                    .shrink = 0.99f,
                                                    .momentum = 0.9f,
                                                    .beta1 = 0.8f,
                                                    .one_less_beta1 = 0.2f,
                                                    .beta2 = 0.95f,
                                                    .one_less_beta2 = 0.05f,
                                                    .root_scale = 1.5f,
                                                    .epsilon = 1e-6f};

// A sum, a model and its moments.
struct StepValues {
  FloatVector sum;
  FloatVector parameters;
  FloatVector first;
  FloatVector second;

  static StepValues of(std::size_t n) {
    StepValues values = {.sum = codec_testing::update(codec_testing::Pattern::normal, n, 0),
                         .parameters = codec_testing::update(codec_testing::Pattern::normal, n, 1),
                         .first = codec_testing::update(codec_testing::Pattern::lognormal, n, 2),
                         .second = codec_testing::update(codec_testing::Pattern::lognormal, n, 3)};
    for (float& value : values.second) value = std::abs(value);
    return values;
  }
  optimizer::Run run(std::size_t from = 0) {
    return {.sum = sum.data() + from,
            .parameters = parameters.data() + from,
            .first = first.data() + from,
            .second = second.data() + from,
            .count = sum.size() - from};
  }
  // The bits of what a step changes.
  std::vector<std::uint32_t> bits() const {
    std::vector<std::uint32_t> all;
    for (const FloatVector* values : {&parameters, &first, &second}) {
      for (const float value : *values) all.push_back(std::bit_cast<std::uint32_t>(value));
    }
    return all;
  }
};

// Makes the step of the values from `from` on by a function with the parameters of make_step().
template <typename Step>
Status step_on_device(const Queue& queue, const Step& step, optimizer::Formula formula,
                      std::size_t from, StepValues& values) {
  TRIBUTARY_ASSIGN(const auto sum, DeviceArray<float>::copy_of(queue, values.sum));
  TRIBUTARY_ASSIGN(auto parameters, DeviceArray<float>::copy_of(queue, values.parameters));
  TRIBUTARY_ASSIGN(auto first, DeviceArray<float>::copy_of(queue, values.first));
  TRIBUTARY_ASSIGN(auto second, DeviceArray<float>::copy_of(queue, values.second));
  TRIBUTARY_TRY(step(queue, formula, kStepFactors,
                     StepArrays{.sum = sum.data() + from,
                                .parameters = parameters.data() + from,
                                .first = first.data() + from,
                                .second = second.data() + from},
                     values.sum.size() - from));
  TRIBUTARY_TRY(parameters.read(queue, values.parameters));
  TRIBUTARY_TRY(first.read(queue, values.first));
  return second.read(queue, values.second);
}

}  // namespace tributary::TRIBUTARY_DEVICE
