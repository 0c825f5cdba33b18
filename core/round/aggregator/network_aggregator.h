// The state machine of an aggregator in the network: its session with the coordinator, and the
// epochs that the coordinator installs. Packets are not its concern: the host passes them to the
// rules of slots (core/collective/in_network/slot_rules.h).
//
// It has no socket, clock or file. The host calls handle() for every event and performs the
// returned actions in order: Send, ClosePeer, InstallSums, Note and Finished. It sends a Tick at
// next_wakeup_ns(). After Finished all events are ignored. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "core/round/agent/agent_connection.h"
#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"

namespace tributary {

class NetworkAggregator {
 public:
  struct Options {
    std::string id;
    std::string build = "tributary";
    std::uint64_t incarnation = 1;    // random, drawn when the process starts
    std::string address;              // of packets, as agents dial it
    std::uint32_t slots = 0;          // for all jobs
    std::uint32_t packet_values = 0;  // most values in a packet; 0: 1024
  };
  explicit NetworkAggregator(const Options& options);
  NetworkAggregator(const NetworkAggregator&) = delete;
  NetworkAggregator& operator=(const NetworkAggregator&) = delete;

  Actions handle(TimeNs now, const Event& event);
  TimeNs next_wakeup_ns() const;

  bool connected() const { return session_.is_open(); }
  // True if the coordinator has answered every message, so that the host may end.
  bool idle() const { return session_.idle(); }

 private:
  void pass(const Event& event);
  void receive(const FrameReceived& event);
  void answer(const EpochDecided& decided);

  AgentContext context_;
  ClientSession session_{context_};
  AgentConnection connection_{context_, session_};
  bool first_of_session_ = false;  // the coordinator has not installed an epoch yet
};

}  // namespace tributary
