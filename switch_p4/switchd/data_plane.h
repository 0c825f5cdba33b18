// The part of an aggregator that serves packets: in this process (SwitchThread), or in the kernel
// (switch_p4/xdp). The daemon installs jobs and reads figures; it never sees a packet.
//
// All methods may be called on any thread, and may wait for as long as one turn of the plane's own
// thread takes. The plane serves from its opening to its destruction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log/log.h"
#include "core/base/status.h"
#include "core/collective/in_network/slot_rules.h"
#include "core/net/udp/udp_address.h"
#include "core/net/udp/udp_port.h"

namespace tributary::switchd {

// Replies of a plane in the kernel.
struct KernelFigures {
  std::uint64_t reflected = 0;    // sent back by the kernel
  std::uint64_t handed_over = 0;  // left to this process
  std::uint64_t passed = 0;       // packets that the kernel did not take
};

struct SwitchFigures {
  std::string mode;  // "user", "native" or "generic"
  in_network::SlotCounters packets;
  UdpCounters port;
  KernelFigures kernel;
  std::uint64_t group_falls = 0;  // how often results fell from multicast to unicast
  std::uint32_t slots = 0;
  std::uint32_t slots_free = 0;
  std::vector<in_network::SlotJob> jobs;  // as installed
};

class DataPlane {
 public:
  virtual ~DataPlane() = default;
  DataPlane(const DataPlane&) = delete;
  DataPlane& operator=(const DataPlane&) = delete;

  // As SlotRules has them; `cancelled` after the plane has failed.
  virtual Status install(const in_network::SlotJob& job) = 0;
  virtual Status remove(std::uint16_t handle) = 0;
  virtual SwitchFigures figures() = 0;
  virtual UdpAddress address() const = 0;
  // An error that has ended the plane; ok while it serves.
  virtual Status status() const = 0;
  // Logs the address, and how packets are served.
  virtual void log_start(Log& log) const = 0;

 protected:
  DataPlane() = default;
};

}  // namespace tributary::switchd
