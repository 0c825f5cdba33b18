// The configuration of an agent's state machine.
//
// A plain value that is fixed for the life of the agent. The host checks it before the agent is
// made; the machine does not check it again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/codec/codec.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/plan/model_rule.h"

namespace tributary {

struct AgentConfig {
  std::string agent_id;
  std::string build = "tributary";
  // A random number drawn when the process starts. It distinguishes this process from others with
  // the same agent id.
  std::uint64_t incarnation = 1;
  wire::CapabilitiesT capabilities;
  // Addresses for connections of peers. Empty: the agent exchanges only through the coordinator.
  std::vector<std::string> endpoints = {};
  // An aggregator in the network shares the agent's connection, and has slots.
  wire::Role role = wire::Role::agent;
  std::uint32_t slots = 0;
  std::uint32_t packet_values = 0;  // of an aggregator: most values in a packet; 0: 1024

  // --- until a Welcome states the times of the session ---
  // Time until the first repeat of a Hello. It doubles with each repeat, because a connection that
  // stays open loses none.
  std::uint32_t hello_timeout_ms = 3'000;
  std::uint32_t hello_timeout_max_ms = 10'000;
  // Time without any byte from the coordinator after which the connection is given up. A tunnel or
  // a proxy may keep accepting bytes that reach no coordinator.
  std::uint32_t give_up_after_ms = 60'000;
  // Number of consecutive refusals as a duplicate after which the agent ends.
  std::uint32_t duplicate_refusals_max = 20;
  // Limit for the model of a job, in bytes. A larger job is refused.
  std::uint64_t model_bytes_max = 64ull << 30;
  // Number of rounds between two stored models. A process that ends without a Shutdown starts again
  // from the last one, and the coordinator sends the rounds since then, or a model. A journal with
  // a log writes a model twice, so these are 1/32 of the model in a round.
  std::uint32_t checkpoint_rounds = 64;

  // Apply the results of a round as they arrive, and train for the next round from the model after
  // it before the commit. Memory: one more model, and one more state of the optimizer.
  bool train_ahead = true;
  // In a star, a model from this size on is applied with the commit, in place.
  std::uint64_t large_model_bytes = kLargeModelBytes;
  // Buckets are encoded together up to this number of values; their residuals are one record.
  std::uint64_t encoded_values_at_once = 1u << 18;

  Execution execution = {};
  // With a device, buckets are encoded by RunInBackground, while the machine handles other events.
  bool encodes_in_background = false;
  // Time that passes within a call, to measure encoding. Null: all durations are 0.
  std::function<TimeNs()> stopwatch = nullptr;
};

}  // namespace tributary
