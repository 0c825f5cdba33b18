// The data plane in the kernel: the XDP program on a network device, and a thread that sends what
// the program hands over.
//
// The kernel detaches the program with this process, also after SIGKILL. Any thread may call the
// methods.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/net/udp/udp_port.h"
#include "core/net/waker.h"
#include "switch_p4/switchd/data_plane.h"
#include "switch_p4/switchd/group_watch.h"
#include "switch_p4/xdp/gateway.h"
#include "switch_p4/xdp/gateway_settings.h"
#include "switch_p4/xdp/reply_sender.h"

namespace tributary::switch_xdp {

class XdpPlane final : public switchd::DataPlane {
 public:
  // Returns an error if the port cannot be opened, if the kernel refuses the program, or if the
  // device does not take it.
  static Result<std::unique_ptr<XdpPlane>> open(const GatewaySettings& settings);
  ~XdpPlane() override;

  Status install(const in_network::SlotJob& job) override;
  Status remove(std::uint16_t handle) override;
  switchd::SwitchFigures figures() override;
  UdpAddress address() const override { return address_; }
  Status status() const override;
  void log_start(Log& log) const override;

 private:
  XdpPlane(std::unique_ptr<UdpPort> port, std::unique_ptr<Gateway> gateway,
           const GatewaySettings& settings, XdpMode mode, Waker waker);
  void run();
  Status turn();
  void watch_group();

  const std::unique_ptr<UdpPort> port_;  // of the thread and of figures(), by mutex_
  const std::unique_ptr<Gateway> gateway_;
  const UdpAddress address_;
  const std::string device_;
  const XdpMode mode_;
  const bool has_group_;
  ReplySender sender_;
  switchd::GroupWatch watch_;
  const Waker waker_;
  mutable std::mutex mutex_;
  std::map<std::uint16_t, in_network::SlotJob> jobs_;  // as installed
  bool ending_ = false;
  Status status_;
  std::thread thread_;
};

}  // namespace tributary::switch_xdp
