// The data plane in user space: a thread with a UDP port, the slot rules, and the loop between
// them.
//
// Thread rule: any thread but this one may call the methods. check(), install(), remove() and
// figures() wait until the thread has done it, which takes as long as one turn of its loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/collective/in_network/slot_rules.h"
#include "core/net/udp/udp_port.h"
#include "core/net/waker.h"
#include "switch_p4/switchd/data_plane.h"
#include "switch_p4/switchd/switch_loop.h"

namespace tributary::switchd {

struct SwitchThreadOptions {
  UdpAddress listen;
  UdpAddress group = {};  // multicast address of results; empty: unicast
  std::uint32_t slots = 2048;
  std::uint32_t batch = 32;
  bool segments = true;
};

class SwitchThread final : public DataPlane {
 public:
  // Returns an error if the port cannot be opened.
  static Result<std::unique_ptr<SwitchThread>> open(const SwitchThreadOptions& options);
  ~SwitchThread() override;

  Status check(const in_network::SlotJob& job) override;
  Status install(const in_network::SlotJob& job) override;
  Status remove(std::uint16_t handle) override;
  SwitchFigures figures() override;
  UdpAddress address() const override { return address_; }
  Status status() const override;
  void log_start(Log& log) const override;

 private:
  SwitchThread(std::unique_ptr<UdpPort> port, in_network::SlotRules rules, UdpAddress group,
               Waker waker);
  void run();
  void serve();
  // Runs `work` on the thread and waits. Returns false if the thread has ended.
  bool call(const std::function<void()>& work);
  void run_calls();

  const std::unique_ptr<UdpPort> port_;
  in_network::SlotRules rules_;
  SwitchLoop loop_;
  std::map<std::uint16_t, in_network::SlotJob> jobs_;  // of the thread, as rules_ and loop_
  const UdpAddress address_;
  const bool joins_;  // segments: GRO
  const bool cuts_;   // segments: GSO
  const std::uint32_t slots_;
  const Waker waker_;
  mutable std::mutex mutex_;
  std::vector<std::function<void()>> calls_;
  bool ending_ = false;
  bool ended_ = false;
  Status status_;
  std::thread thread_;
};

}  // namespace tributary::switchd
