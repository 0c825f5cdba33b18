// A job whose agent loses its device, or finds its memory full, in the middle of a round: the host
// takes over in the same round, the journal says so, and the model is the same.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "core/sim/federation/devices/device_jobs_testing.h"

namespace tributary {
namespace {

using emulated::Operation;
using sim_testing::AgentDevices;
using sim_testing::DeviceJob;
using sim_testing::kDeviceRounds;

DeviceJob run_star(const std::string& codec, const AgentDevices* devices) {
  return sim_testing::run_on_devices(codec, wire::Collective::star, devices);
}

class FaultsOfADevice : public testing::TestWithParam<std::tuple<const char*, Operation>> {
 protected:
  ~FaultsOfADevice() override { emulated::fail_operation(operation_, 0); }

  // Requires that one agent's host has taken over: for a call if memory was full, otherwise from
  // then on.
  void expect_host_took_over(const DeviceJob& job, const AgentDevices& devices) const {
    ASSERT_EQ(devices.errors().size(), 1u) << "one agent has the fault";
    const auto& [agent, errors] = *devices.errors().begin();
    ASSERT_EQ(errors.size(), 1u);
    const bool memory = operation_ == Operation::allocation;
    EXPECT_EQ(errors[0].code(), memory ? StatusCode::resource_exhausted : StatusCode::io_error);
    EXPECT_EQ(devices.of(agent)->lost(), !memory);
    const auto& last = job.devices.at(kDeviceRounds - 1);
    ASSERT_EQ(last.size(), sim_testing::kDeviceAgents);
    for (const auto& [id, names] : last) {
      // Names of agents end with their number.
      const bool faulty = id.ends_with(std::to_string(agent));
      EXPECT_EQ(names.contains("emulated"), memory || !faulty) << id;
    }
  }

  const std::string codec_ = std::get<0>(GetParam());
  const Operation operation_ = std::get<1>(GetParam());
};

TEST_P(FaultsOfADevice, LeaveTheModelAsItIs) {
  const DeviceJob host = run_star(codec_, nullptr);
  const std::uint64_t before = emulated::operations(operation_);
  const AgentDevices healthy;
  EXPECT_EQ(run_star(codec_, &healthy).model_hash, host.model_hash);
  const std::uint64_t count = emulated::operations(operation_) - before;
  ASSERT_GE(count, kDeviceRounds);
  // In the first round, and in the second one.
  for (const std::uint64_t n : {std::uint64_t{1}, count * 3 / 8}) {
    SCOPED_TRACE(n);
    const AgentDevices devices;
    emulated::fail_operation(operation_, n);
    const DeviceJob job = run_star(codec_, &devices);
    EXPECT_EQ(job.model_hash, host.model_hash);
    expect_host_took_over(job, devices);
  }
}

std::string fault_name(const testing::TestParamInfo<std::tuple<const char*, Operation>>& one) {
  constexpr const char* kNames[] = {"allocation", "launch", "wait"};
  const auto& [codec, operation] = one.param;
  return std::string(codec) + "_" + kNames[static_cast<std::size_t>(operation)];
}

INSTANTIATE_TEST_SUITE_P(
    Codecs, FaultsOfADevice,
    testing::Combine(testing::Values("thc", "threelc", "topk", "gcomp", "int8", "powersgd"),
                     testing::Values(Operation::allocation, Operation::launch, Operation::wait)),
    fault_name);

}  // namespace
}  // namespace tributary
