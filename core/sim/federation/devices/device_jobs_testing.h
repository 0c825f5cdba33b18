// Jobs of a test whose agents encode on emulated devices, or on the host.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/sim/federation/federation_testing.h"

namespace tributary::sim_testing {

constexpr std::uint32_t kDeviceAgents = 2;
constexpr std::uint64_t kDeviceRounds = 4;

// A device for each agent, and the errors that it has reported.
class AgentDevices {
 public:
  AgentDevices() {
    for (std::uint32_t i = 0; i < kDeviceAgents; ++i) {
      devices_.push_back(emulated::make_codec_device());
      devices_[i]->report_errors_to(
          [this, i](const Status& error) { errors_[i].push_back(error); });
    }
  }
  AgentDevices(const AgentDevices&) = delete;
  AgentDevices& operator=(const AgentDevices&) = delete;

  CodecDevice* of(std::uint32_t agent) const { return devices_[agent].get(); }
  // By agent; agents without errors are left out.
  const std::map<std::uint32_t, std::vector<Status>>& errors() const { return errors_; }

 private:
  std::vector<std::unique_ptr<CodecDevice>> devices_;
  std::map<std::uint32_t, std::vector<Status>> errors_;
};

// The result of a job: its model, and the devices that encoded in each round according to the
// journal. The reports on the last round are not part of the journal.
struct DeviceJob {
  std::uint64_t model_hash = 0;
  std::map<std::uint64_t, std::map<std::string, std::set<std::string>>> devices;  // round, agent
  int steppers = 0;  // times an agent has noted another device for the steps of its replica
  // Reports after a round whose steps a device has made.
  std::uint64_t steps = 0;
};

// Runs a job of kDeviceRounds rounds. Null: the agents encode on the host.
inline DeviceJob run_on_devices(const std::string& codec, wire::Collective collective,
                                const AgentDevices* devices,
                                const std::function<void(wire::JobT&)>& change_job = {},
                                bool train_ahead = true) {
  Options options;
  options.train_ahead = train_ahead;
  options.change_job = change_job;
  options.agents = kDeviceAgents;
  options.rounds = kDeviceRounds;
  options.layers = {{"weight", {30, 32}}, {"bias", {127}}};
  options.policy.codec = codec;
  options.policy.collective = collective;
  options.policy.agents_min = kDeviceAgents;
  options.policy.bucket_values_max = 700;
  options.peers = collective != wire::Collective::star;
  if (devices != nullptr) {
    options.device_of = [devices](std::uint32_t agent) { return devices->of(agent); };
  }
  Federation federation(options);
  EXPECT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  DeviceJob job = {.model_hash = federation.coordinator().model_hash(),
                   .devices = {},
                   .steppers = federation.noted("optimizer_steps"),
                   .steps = 0};
  for (const CommitRecord& commit : federation.journal().commits()) {
    for (const AgentRoundRecord& report : commit.reports) {
      std::set<std::string>& names = job.devices[report.id.round][report.agent_id];
      const auto* const facts = flatbuffers::GetRoot<wire::Mechanisms>(report.mechanisms->data());
      job.steps += facts->steps_on_device();
      if (facts->buckets_by_device() == nullptr) continue;
      for (const auto* const tally : *facts->buckets_by_device()) {
        names.insert(tally->of()->str());
      }
    }
  }
  return job;
}

}  // namespace tributary::sim_testing
