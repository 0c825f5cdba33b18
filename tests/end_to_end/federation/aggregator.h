// An aggregator in the network as a process of a federation, and a host on the path to it that
// changes sums or drops packets. One thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/net/udp/udp_port.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/process.h"

namespace tributary::end_to_end {

// Must be made before the coordinator starts, which then allows it, and destroyed before the
// federation.
class Aggregator {
 public:
  explicit Aggregator(Federation& federation);

  // Returns when it listens. `advertise` is the address that agents send to; empty: its own.
  void start(const std::optional<UdpAddress>& advertise = {},
             const std::vector<std::string>& settings = {});
  void kill() { process_->kill(); }
  Process& process() { return *process_; }
  UdpAddress address() const { return address_; }
  std::string id() const { return "gateway"; }
  // Returns a series of its Prometheus endpoint; 0 if it is missing.
  double metric(const std::string& series);
  std::string state() const { return federation_.path("epochs"); }

 private:
  Federation& federation_;
  UdpAddress address_;
  std::optional<Process> process_;
};

// Passes datagrams between agents and an aggregator. On request it adds 1 to the last sum of every
// result, or drops what agents send.
class TamperingPath {
 public:
  explicit TamperingPath(UdpAddress aggregator);
  ~TamperingPath();
  TamperingPath(const TamperingPath&) = delete;
  TamperingPath& operator=(const TamperingPath&) = delete;

  UdpAddress address() const { return front_->address(); }
  void tamper(bool on) { tampers_ = on; }
  std::uint64_t tampered() const { return tampered_; }
  void drop(bool on) { drops_ = on; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  void run();
  void pass_to_aggregator();
  void pass_back(UdpAddress agent, UdpPort& from);

  const UdpAddress aggregator_;
  std::unique_ptr<UdpPort> front_;
  std::map<std::uint64_t, std::unique_ptr<UdpPort>> back_;  // by the agent's address
  std::atomic<bool> tampers_ = false;
  std::atomic<std::uint64_t> tampered_ = 0;
  std::atomic<bool> drops_ = false;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<bool> running_ = true;
  std::thread thread_;
};

}  // namespace tributary::end_to_end
