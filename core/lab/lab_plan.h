// A lab as it is wanted, and the lines for ip(8), bridge(8) and tc(8) that make it. Interfaces of
// links in user space are there already when the lines are read; all others are made by them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/lab/link_settings.h"

namespace tributary {

struct LabPlan {
  std::string name;
  std::uint32_t mtu_bytes = 1500;
  std::vector<LinkSettings> links;  // one for each node

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(links.size()); }
  bool needs_relay() const;
};

// `everywhere` holds for each node, and the nodes' own settings over it, in their order.
Result<LabPlan> plan_lab(std::string name, std::uint32_t nodes, std::uint32_t mtu_bytes,
                         const LinkSettings& everywhere, const std::vector<NodeSettings>& own);

// Each a text for -batch, for the namespace in its name.
std::string hub_ip_lines(const LabPlan& plan);
std::string hub_bridge_lines(const LabPlan& plan);
std::string hub_tc_lines(const LabPlan& plan);
std::string node_ip_lines(const LabPlan& plan, std::uint32_t node);
std::string node_tc_lines(const LabPlan& plan, std::uint32_t node);

// The seconds that a packet waits on its way from one node to another and back, on idle links.
double round_trip_s(const LinkSettings& a, const LinkSettings& b);

}  // namespace tributary
