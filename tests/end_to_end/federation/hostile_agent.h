// A client at the coordinator's port that keeps the protocol and sends numbers that no agent sends.
//
// It is the production agent's state machine over the production transport, with synthetic updates,
// no journal and no audit. In some rounds it replaces its payloads by others with one bad number
// and a correct checksum, after all checks of the agent. It runs in a thread of its own until it is
// destroyed. Errors are gtest failures.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "core/net/transport.h"
#include "core/round/agent/agent.h"
#include "core/round/common/machine/round_key.h"
#include "core/service/loop/machine_loop.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {

struct HostileOptions {
  std::string codec;  // of the job
  float value = 0;
  std::uint64_t first_round = 1;  // in which it sends the value
  std::uint64_t last_round = UINT64_MAX;
};

class HostileAgent {
 public:
  // Takes the key and the place of agent number `agent` of the federation, whose coordinator runs.
  HostileAgent(const Federation& federation, std::uint32_t agent, HostileOptions options);
  ~HostileAgent();
  HostileAgent(const HostileAgent&) = delete;
  HostileAgent& operator=(const HostileAgent&) = delete;

  // Number of payloads that it has replaced, and of messages that exclude it.
  std::uint64_t replaced() const { return replaced_; }
  std::uint64_t excluded() const { return excluded_; }

 private:
  struct AttemptStage {
    RoundKey attempt = {};
    std::uint32_t number = 0;
  };

  void run(std::string agent_id);
  Actions handle(TimeNs now, Event event);
  void replace(Send& send);
  void perform(Action& action, const std::string& agent_id);

  const HostileOptions options_;
  std::unique_ptr<Transport> link_;
  std::unique_ptr<Agent> machine_;
  MachineLoop* loop_ = nullptr;
  AttemptStage replaced_in_;  // the last attempt with a replaced payload, and its stage
  std::atomic<std::uint64_t> replaced_ = 0;
  std::atomic<std::uint64_t> excluded_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // uses the members above, so it is the last one
};

}  // namespace tributary::end_to_end
