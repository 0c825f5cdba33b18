// Names of a lab's parts: network namespaces, interfaces and addresses. The names of its namespaces
// are sufficient to find a lab, even if the program that created it has died. The functions are
// pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

// Nodes share one /24 network, with room for the hub.
inline constexpr std::uint32_t kLabNodesMax = 200;
inline constexpr std::uint32_t kLabMtuMin = 1280;
inline constexpr std::uint32_t kLabMtuMax = 9000;

// The interface of every node, and the bridge to which all links lead.
inline constexpr std::string_view kNodeInterface = "eth0";
inline constexpr std::string_view kBridge = "bridge0";
// With a gateway: its interface towards node 0, that interface's port, and their bridge.
inline constexpr std::string_view kUplinkInterface = "uplink0";
inline constexpr std::string_view kUplinkPort = "port-uplink";
inline constexpr std::string_view kUplinkBridge = "bridge1";

// A lower-case letter, then up to 23 lower-case letters, digits and dashes; otherwise
// invalid_argument.
Status check_lab_name(std::string_view name);

// Names of the network namespaces of the hub and of a node.
std::string hub_namespace(std::string_view lab);
std::string node_namespace(std::string_view lab, std::uint32_t node);

// The meaning of a namespace's name.
struct LabNamespace {
  std::string lab;
  std::optional<std::uint32_t> node;  // empty: the hub
  friend bool operator==(const LabNamespace&, const LabNamespace&) = default;
};
// The inverse of the two functions above; empty if the namespace belongs to no lab.
std::optional<LabNamespace> parse_lab_namespace(std::string_view name);

// "10.77.0.1"; the same in every lab, because labs never see each other
std::string node_address(std::uint32_t node);
std::string node_mac(std::uint32_t node);        // a locally administered address
std::string uplink_mac();                        // of the gateway towards node 0
std::string hub_port(std::uint32_t node);        // the bridge's end of the node's link
std::string node_host_name(std::uint32_t node);  // "node-0"
std::string hosts_file(std::uint32_t nodes);     // content of /etc/hosts in every node

}  // namespace tributary
