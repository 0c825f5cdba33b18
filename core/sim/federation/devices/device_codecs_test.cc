// A job ends with the same model whether its agents encode on the host or on a device, with every
// codec. The journal names the device.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace tributary
