// Steps of an optimizer on a device have the bits of the scalar specification and of the SIMD
// version, for every formula.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/base/bytes/checksum.h"
#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/optimizer/step_case_testing.h"
#include "core/optimizer/optimizer.h"
#include "core/optimizer/optimizer_on_device.h"
#ifndef TRIBUTARY_CUDA
#include "core/codec/cuda/emulated/emulated_testing.h"
#endif

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using optimizer::Formula;

class DeviceSteps : public DeviceTest {
 protected:
  StepValues step(const Queue& queue, Formula formula, StepValues values, std::size_t from = 0) {
    const Status status = step_on_device(queue, make_step, formula, from, values);
    EXPECT_TRUE(status.ok()) << status.text();
    return values;
  }
};

// Sizes around a load of four values, and runs that begin at every place in one.
TEST_F(DeviceSteps, HaveTheBitsOfTheSpecification) {
  for (const Formula formula : kFormulas) {
    for (const std::size_t n : {1u, 3u, 4u, 31u, 33u, 2051u}) {
      for (std::size_t from = 0; from < std::min<std::size_t>(n, 5); ++from) {
        StepValues expected = StepValues::of(n);
        optimizer::step_scalar(formula, kStepFactors, expected.run(from));
        for (const Queue* queue : queues()) {
          ASSERT_EQ(step(*queue, formula, StepValues::of(n), from).bits(), expected.bits())
              << static_cast<int>(formula) << ": " << n << " values from " << from;
        }
      }
    }
  }
}

TEST_F(DeviceSteps, OfNoValuesStartNothing) {
  EXPECT_TRUE(make_step(queue(), Formula::adam, kStepFactors, {}, 0).ok());
}

// Infinities, NaN and denormals pass as on the host.
TEST_F(DeviceSteps, TakeNumbersThatAreNotFiniteAsTheHostDoes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Formula formula : kFormulas) {
    StepValues values = StepValues::of(64);
    values.sum[3] = kInfinity;
    values.sum[4] = -kInfinity;
    values.sum[5] = std::numeric_limits<float>::denorm_min();
    values.parameters[6] = std::numeric_limits<float>::max();
    values.second[7] = kInfinity;
    values.second[8] = 0;
    values.second[9] = std::numeric_limits<float>::denorm_min();
    StepValues expected = values;
    optimizer::step_scalar(formula, kStepFactors, expected.run());
    const StepValues got = step(queue(), formula, values);
    for (std::size_t i = 0; i < 64; ++i) {
      // Machines give NaN different bits, and no model keeps one.
      const float one = expected.parameters[i];
      const float other = got.parameters[i];
      EXPECT_TRUE(std::bit_cast<std::uint32_t>(one) == std::bit_cast<std::uint32_t>(other) ||
                  (std::isnan(one) && std::isnan(other)))
          << static_cast<int>(formula) << ", value " << i << ": " << one << ", " << other;
    }
  }
}

// Hashes of parameters and moments after a step, so that all machines and devices agree.
TEST_F(DeviceSteps, AreThoseOfEveryMachine) {
  constexpr std::uint64_t kGolden[] = {
      13686915566969645623u, 7328633125311002146u,  7472302119530837399u, 3960540636823903092u,
      11961985884138690847u, 14332114259801294531u, 5844471649093803031u, 750985638400601425u};
  const auto hash_of = [](const StepValues& values) {
    const std::vector<std::uint32_t> bits = values.bits();
    return hash64({reinterpret_cast<const std::uint8_t*>(bits.data()), bits.size() * 4});
  };
  for (const Formula formula : kFormulas) {
    const std::uint64_t golden = kGolden[static_cast<std::size_t>(formula)];
    StepValues scalar = StepValues::of(1003);
    optimizer::step_scalar(formula, kStepFactors, scalar.run());
    EXPECT_EQ(hash_of(scalar), golden) << "scalar, formula " << static_cast<int>(formula);
    StepValues simd = StepValues::of(1003);
    optimizer::step_simd(formula, kStepFactors, simd.run());
    EXPECT_EQ(hash_of(simd), golden) << "SIMD, formula " << static_cast<int>(formula);
    EXPECT_EQ(hash_of(step(queue(), formula, StepValues::of(1003))), golden)
        << "device, formula " << static_cast<int>(formula);
  }
}

// Whole optimizers: a model whose steps a device makes, in runs, and the same on the host.
class OptimizersOnDevice : public DeviceTest {
 protected:
  static constexpr std::size_t kStepValues = 1003;

  static std::vector<OptimizerSettings> all_settings() {
    std::vector<OptimizerSettings> all;
    for (const char* spec :
         {"sgd:weight_decay=0.01", "momentum", "nesterov:momentum=0.8", "adagrad:start=0.1",
          "rmsprop", "rmsprop:momentum=0.9", "adam", "adamw"}) {
      all.push_back(*parse_optimizer(spec));
    }
    for (const char* strategy : {"fedavgm", "fedadam", "fedyogi"}) {
      all.push_back(parse_strategy(strategy)->server);
    }
    return all;
  }
  static FloatVector sum_of(std::uint32_t round) {
    return codec_testing::update(codec_testing::Pattern::normal, kStepValues, 10 + round);
  }
  static void step_on_host(Optimizer& optimizer, std::uint32_t round, FloatVector& model) {
    optimizer.begin();
    optimizer.apply(0, sum_of(round), 3, 0.1, model);
  }
  std::shared_ptr<DeviceVector> vector_of(const FloatVector& values) {
    auto made = device_->vectors()->make(values.size());
    EXPECT_TRUE(made.ok()) << made.status().text();
    const Status written = (*made)->write(0, values);
    EXPECT_TRUE(written.ok()) << written.text();
    return *made;
  }

  const std::unique_ptr<CodecDevice> device_ = make_codec_device();
};

TEST_F(OptimizersOnDevice, MakeTheStepsOfTheHost) {
  for (const OptimizerSettings& settings : all_settings()) {
    Optimizer host(settings, kStepValues);
    FloatVector model = codec_testing::update(codec_testing::Pattern::normal, kStepValues, 1);
    // The device begins with moments that are not there yet, or with those after a step.
    for (const bool stepped : {false, true}) {
      if (stepped) step_on_host(host, 1, model);
      auto on_device = OptimizerOnDevice::make(*device_, host, kStepValues);
      ASSERT_TRUE(on_device.ok()) << on_device.status().text();
      const auto there = vector_of(model);
      const auto sum = vector_of(sum_of(2));
      on_device->begin();
      // Runs out of order, one of them of a single value.
      for (const auto& [first, count] : {std::pair{502u, 501u}, {0u, 1u}, {1u, 501u}}) {
        const Status status = on_device->apply({.sum = sum->stand_in().subspan(first, count),
                                                .first_value = first,
                                                .divisor = 3,
                                                .learning_rate = 0.1},
                                               *there);
        ASSERT_TRUE(status.ok()) << status.text();
      }
      step_on_host(host, 2, model);
      FloatVector got(kStepValues);
      ASSERT_TRUE(there->read(0, got).ok());
      EXPECT_EQ(codec_testing::bits_of(got), codec_testing::bits_of(model));
      const auto saved = on_device->save();
      ASSERT_TRUE(saved.ok()) << saved.status().text();
      EXPECT_EQ(*saved, host.save() ? *host.save() : Bytes());
    }
  }
}

#ifndef TRIBUTARY_CUDA
TEST_F(OptimizersOnDevice, ReturnTheErrorsOfTheDevice) {
  Optimizer host(*parse_optimizer("adam"), kStepValues);
  fail_operation(Operation::allocation, 2);
  EXPECT_EQ(OptimizerOnDevice::make(*device_, host, kStepValues).status().code(),
            StatusCode::resource_exhausted);
  auto on_device = OptimizerOnDevice::make(*device_, host, kStepValues);
  ASSERT_TRUE(on_device.ok());
  const auto model = vector_of(sum_of(0));
  const auto sum = vector_of(sum_of(1));
  const optimizer::DeviceStep step = {.sum = sum->stand_in(), .divisor = 1, .learning_rate = 0.1};
  for (const Operation operation : {Operation::launch, Operation::wait}) {
    fail_operation(operation, 1);
    EXPECT_EQ(on_device->apply(step, *model).code(), StatusCode::io_error);
  }
  // Values that the host has taken are no longer on the device.
  ASSERT_TRUE(sum->bring_to_host().ok());
  EXPECT_EQ(on_device->apply(step, *model).code(), StatusCode::mismatch);
}
#endif

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
