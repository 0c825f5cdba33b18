// The plan of a lab, and the command lines for ip(8), bridge(8) and tc(8) that build it. Interfaces
// of links in user space exist before the lines run; the lines create all others. The functions are
// pure: they run no command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/lab/link_settings.h"

namespace tributary {

// Name, MTU and links of a lab.
struct LabPlan {
  std::string name;
  std::uint32_t mtu_bytes = 1500;
  std::vector<LinkSettings> links;  // one per node, in order
  // The last node routes between node 0 and the others. Node 0's link is then the gateway's line.
  bool has_gateway = false;

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(links.size()); }
  bool is_gateway(std::uint32_t node) const { return has_gateway && node + 1 == nodes(); }
  bool is_outside(std::uint32_t node) const { return has_gateway && node == 0; }
  // True if at least one link needs a relay in user space.
  bool needs_relay() const;
};

// Puts the last node between node 0 and the others: node 0's link gets the settings `uplink` alone,
// and the gateway's own link has no limit. Fails with invalid_argument with fewer than three nodes.
Status place_gateway(LabPlan& plan, std::string_view uplink);

// `everywhere` applies to each node; the nodes' own settings override it, in their order. Fails
// with invalid_argument for a bad name, node or setting.
Result<LabPlan> plan_lab(std::string name, std::uint32_t nodes, std::uint32_t mtu_bytes,
                         const LinkSettings& everywhere, const std::vector<NodeSettings>& own);

// Each function returns a text for the -batch option of its command, to run in the namespace of its
// name.
std::string hub_ip_lines(const LabPlan& plan);
std::string hub_bridge_lines(const LabPlan& plan);
std::string hub_tc_lines(const LabPlan& plan);
std::string node_ip_lines(const LabPlan& plan, std::uint32_t node);
std::string node_tc_lines(const LabPlan& plan, std::uint32_t node);

// Propagation time in seconds from one node to another and back, on idle links.
double round_trip_s(const LinkSettings& a, const LinkSettings& b);

}  // namespace tributary
