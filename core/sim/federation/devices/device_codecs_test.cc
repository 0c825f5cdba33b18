// A job ends with the same model whether its agents encode on the host or on a device, with every
// codec. The journal names the device.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/codec/device/device_vector.h"
#include "core/codec/registry.h"
#include "core/sim/federation/devices/device_jobs_testing.h"

namespace tributary {
namespace {

using sim_testing::AgentDevices;
using sim_testing::DeviceJob;
using sim_testing::run_on_devices;

// Codecs that the host encodes always. All others have kernels.
const std::set<std::string> kWithoutKernels = {"fp32", "zlib", "zstd"};

struct DeviceCase {
  std::string codec;
  wire::Collective collective;
};

// Codecs whose agents also have buckets for which they call no loops of a device: a vector has no
// factors, so the host copies its values. They count as the host's.
const std::set<std::string> kPartly = {"powersgd"};

std::vector<DeviceCase> device_cases() {
  std::vector<DeviceCase> cases;
  for (const wire::Collective collective :
       {wire::Collective::star, wire::Collective::ring, wire::Collective::sharded_star}) {
    for (const CodecFamily& family : codec_families()) {
      cases.push_back({.codec = std::string(family.name), .collective = collective});
    }
  }
  return cases;
}

// Number of kernels that `run` starts.
template <typename Run>
std::uint64_t launches_of(const Run& run) {
  const std::uint64_t before = emulated::operations(emulated::Operation::launch);
  run();
  return emulated::operations(emulated::Operation::launch) - before;
}

class JobsOnADevice : public testing::TestWithParam<DeviceCase> {};

TEST_P(JobsOnADevice, EndWithTheModelOfTheHost) {
  const DeviceCase& one = GetParam();
  const bool kernels = !kWithoutKernels.contains(one.codec);
  const AgentDevices devices;
  DeviceJob host;
  DeviceJob device;
  EXPECT_EQ(launches_of([&] { host = run_on_devices(one.codec, one.collective, nullptr); }), 0u);
  const std::uint64_t launches =
      launches_of([&] { device = run_on_devices(one.codec, one.collective, &devices); });
  EXPECT_EQ(launches > 0, kernels) << launches << " kernels";
  EXPECT_EQ(device.model_hash, host.model_hash);
  EXPECT_TRUE(devices.errors().empty());
  EXPECT_EQ(host.steppers, 0);
  // Agents that apply results before they are committed do so on the host.
  if (one.collective == wire::Collective::star) {
    EXPECT_EQ(device.steppers > 0, encodes_from_device(**make_codec(one.codec)));
  }
  ASSERT_GE(device.devices.size(), 2u);
  std::set<std::string> named;
  for (const auto& [round, agents] : device.devices) {
    for (const auto& [agent, names] : agents) named.insert(names.begin(), names.end());
  }
  if (!kernels) {
    EXPECT_EQ(named, std::set<std::string>{"host"});
    return;
  }
  EXPECT_TRUE(named.contains("emulated"));
  // Peers add some of their own parts without encoding them.
  if (one.collective != wire::Collective::star) return;
  EXPECT_EQ(named.contains("host"), kPartly.contains(one.codec));
}

INSTANTIATE_TEST_SUITE_P(Codecs, JobsOnADevice, testing::ValuesIn(device_cases()),
                         [](const auto& one) {
                           return one.param.codec + "_" +
                                  wire::EnumNameCollective(one.param.collective);
                         });

// The rule of the job makes its steps where the sums are decoded.
struct StepCase {
  wire::OptimizerKind optimizer;
  const char* strategy;  // empty: the agents send gradients
};

class StepsOnADevice : public testing::TestWithParam<StepCase> {};

TEST_P(StepsOnADevice, EndWithTheModelOfTheHost) {
  const auto change_job = [](wire::JobT& job) {
    job.strategy = GetParam().strategy;
    job.mode = job.strategy.empty() ? wire::ExchangeMode::gradient : wire::ExchangeMode::delta;
    job.optimizer->kind = GetParam().optimizer;
    job.optimizer->momentum = GetParam().optimizer == wire::OptimizerKind::rmsprop ? 0.0f : 0.9f;
    job.optimizer->beta1 = 0.9f;
    job.optimizer->beta2 = 0.99f;
    job.optimizer->epsilon = 1e-8f;
    job.optimizer->weight_decay = 0.01f;
  };
  const AgentDevices devices;
  // An agent that trains ahead of the commit makes the steps of all rounds but the last one on the
  // host.
  for (const bool ahead : {false, true}) {
    const auto run = [&](const AgentDevices* on) {
      return run_on_devices("int8_shared", wire::Collective::star, on, change_job, ahead);
    };
    const DeviceJob host = run(nullptr);
    const DeviceJob device = run(&devices);
    EXPECT_EQ(device.model_hash, host.model_hash);
    EXPECT_EQ(device.steppers, static_cast<int>(sim_testing::kDeviceAgents))
        << "once for each agent";
    EXPECT_EQ(host.steps, 0u);
    // The report on the first round has no round before it.
    const std::uint64_t rounds = ahead ? 0 : sim_testing::kDeviceRounds - 1;
    EXPECT_EQ(device.steps, sim_testing::kDeviceAgents * rounds);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, StepsOnADevice,
                         testing::Values(StepCase{wire::OptimizerKind::sgd, ""},
                                         StepCase{wire::OptimizerKind::momentum, ""},
                                         StepCase{wire::OptimizerKind::nesterov, ""},
                                         StepCase{wire::OptimizerKind::adagrad, ""},
                                         StepCase{wire::OptimizerKind::rmsprop, ""},
                                         StepCase{wire::OptimizerKind::adam, ""},
                                         StepCase{wire::OptimizerKind::adamw, ""},
                                         StepCase{wire::OptimizerKind::sgd, "fedavgm"},
                                         StepCase{wire::OptimizerKind::sgd, "fedadam"},
                                         StepCase{wire::OptimizerKind::sgd, "fedyogi"}),
                         [](const auto& one) {
                           const std::string strategy = one.param.strategy;
                           return strategy.empty()
                                      ? wire::EnumNameOptimizerKind(one.param.optimizer)
                                      : strategy;
                         });

}  // namespace
}  // namespace tributary
