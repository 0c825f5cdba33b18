// What the parts of a lab are called. The names of its network namespaces are all that is needed to
// find a lab again, whatever became of the program that made it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

inline constexpr std::uint32_t kLabNodesMax = 200;
inline constexpr std::uint32_t kLabMtuMin = 1280;
inline constexpr std::uint32_t kLabMtuMax = 9000;

// Of every node's one interface, and of the bridge that all links lead to.
inline constexpr std::string_view kNodeInterface = "eth0";
inline constexpr std::string_view kBridge = "bridge0";

// A small letter, then up to 23 small letters, digits and dashes.
Status check_lab_name(std::string_view name);

std::string hub_namespace(std::string_view lab);
std::string node_namespace(std::string_view lab, std::uint32_t node);

struct LabNamespace {
  std::string lab;
  std::optional<std::uint32_t> node;  // none: the hub
  friend bool operator==(const LabNamespace&, const LabNamespace&) = default;
};
// The reverse; nothing for a namespace that is no lab's.
std::optional<LabNamespace> parse_lab_namespace(std::string_view name);

std::string node_address(std::uint32_t node);    // "10.77.0.1": labs never see one another
std::string node_mac(std::uint32_t node);        // locally administered
std::string hub_port(std::uint32_t node);        // the bridge's end of a node's link
std::string node_host_name(std::uint32_t node);  // "node-0"
std::string hosts_file(std::uint32_t nodes);     // /etc/hosts as a node sees it

}  // namespace tributary
