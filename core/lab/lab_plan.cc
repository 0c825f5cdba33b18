#include "core/lab/lab_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/lab/lab_names.h"

namespace tributary {
namespace {

// Length of the queue at the interface of a link in user space, which holds packets that the relay
// has not read yet. It is plenty for GSO packets, and 24 ms of single frames at 1 Gbit/s.
constexpr std::uint32_t kTapQueuePackets = 2000;

// Bytes that TBF passes at once after a pause. A larger burst makes short messages faster than the
// link, and a smaller one costs a timer per frame. This is the amount of one millisecond, but at
// least two frames.
std::uint64_t burst_bytes(std::uint64_t bits_per_s, std::uint32_t mtu_bytes) {
  return std::max<std::uint64_t>(bits_per_s / 8 / 1000,
                                 2ull * (mtu_bytes + kFrameHeaderBytes) + 64);
}

// The most frames that the kernel may hand to the relay in one packet (GSO). The relay passes a
// packet on when all of it has arrived, and a packet crosses two links, so a packet of many frames
// at a low rate would be late by its own length, unlike the frames of a real link. This is what a
// link carries in half a millisecond: single frames at 10 Mbit/s, and hardly a limit at 1 Gbit/s.
std::string frames_limit(std::uint64_t bits_per_s, const LabPlan& plan) {
  if (bits_per_s == 0) return {};
  const std::uint64_t frames = bits_per_s / 8 / 2000 / (plan.mtu_bytes + kFrameHeaderBytes);
  return fmt::format(" gso_max_segs {}", std::clamp<std::uint64_t>(frames, 1, 0xffff));
}

// Empty if the link has no rate, or if the relay shapes it.
std::string tbf_line(std::string_view interface, std::uint64_t bits_per_s, const LabPlan& plan,
                     const LinkSettings& link) {
  if (bits_per_s == 0 || needs_user_space(link)) return {};
  const std::uint64_t burst = burst_bytes(bits_per_s, plan.mtu_bytes);
  return fmt::format("qdisc add dev {} root tbf rate {}bit burst {} limit {}\n", interface,
                     bits_per_s, burst,
                     std::max(burst, queue_bytes_for(link, bits_per_s, plan.mtu_bytes)));
}

}  // namespace

bool LabPlan::needs_relay() const { return std::ranges::any_of(links, needs_user_space); }

Result<LabPlan> plan_lab(std::string name, std::uint32_t nodes, std::uint32_t mtu_bytes,
                         const LinkSettings& everywhere, const std::vector<NodeSettings>& own) {
  TRIBUTARY_TRY(check_lab_name(name));
  LabPlan plan = {.name = std::move(name),
                  .mtu_bytes = mtu_bytes,
                  .links = std::vector<LinkSettings>(nodes, everywhere)};
  for (const NodeSettings& settings : own) {
    if (settings.node >= nodes) {
      return Status(StatusCode::invalid_argument,
                    {.what = fmt::format("settings of node {}", settings.node),
                     .expected = fmt::format("a node from 0 to {}", nodes - 1),
                     .got = fmt::format("{}", settings.node),
                     .remedy = {}});
    }
    TRIBUTARY_TRY(set_link(plan.links[settings.node], settings.settings)
                      .at(fmt::format("node {}", settings.node)));
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    TRIBUTARY_TRY(check_link(plan.links[node]).at(fmt::format("node {}", node)));
  }
  return plan;
}

Status place_gateway(LabPlan& plan, std::string_view uplink) {
  if (plan.nodes() < 3) {
    return Status(StatusCode::invalid_argument,
                  {.what = "nodes of a lab with a gateway",
                   .expected = "3 at least: one outside, one inside and the gateway",
                   .got = fmt::format("{}", plan.nodes()),
                   .remedy = "raise --nodes"});
  }
  plan.has_gateway = true;
  plan.links.back() = {};
  LinkSettings& line = plan.links.front();
  line = {};
  TRIBUTARY_TRY(set_link(line, uplink).at("gateway"));
  return check_link(line).at("gateway");
}

// The bridge, and each node's link to it. A veth pair is created in one step, with its far end in
// the node's namespace.
std::string hub_ip_lines(const LabPlan& plan) {
  const auto add_bridge = [&](std::string_view name) {
    return fmt::format("link add {} mtu {} type bridge stp_state 0 mcast_snooping 0\n", name,
                       plan.mtu_bytes);
  };
  std::string lines = add_bridge(kBridge);
  if (plan.has_gateway) {
    lines += add_bridge(kUplinkBridge) +
             fmt::format(
                 "link add {0} mtu {1} type veth peer name {2} address {3} mtu {1} netns {4}\n"
                 "link set {0} master {5} up\nlink set {5} up\n",
                 kUplinkPort, plan.mtu_bytes, kUplinkInterface, uplink_mac(),
                 node_namespace(plan.name, plan.nodes() - 1), kUplinkBridge);
  }
  for (std::uint32_t node = 0; node < plan.nodes(); ++node) {
    const std::string port = hub_port(node);
    if (needs_user_space(plan.links[node])) {
      lines += fmt::format("link set {} mtu {} txqueuelen {}{}\n", port, plan.mtu_bytes,
                           kTapQueuePackets, frames_limit(plan.links[node].down_bits_per_s, plan));
    } else {
      lines += fmt::format("link add {} mtu {} type veth peer name {} address {} mtu {} netns {}\n",
                           port, plan.mtu_bytes, kNodeInterface, node_mac(node), plan.mtu_bytes,
                           node_namespace(plan.name, node));
    }
    lines += fmt::format("link set {} master {} up\n", port,
                         plan.is_outside(node) ? kUplinkBridge : kBridge);
  }
  return lines + fmt::format("link set {} up\n", kBridge);
}

// The location of every address is static, so no frame is flooded to find it.
std::string hub_bridge_lines(const LabPlan& plan) {
  std::string lines;
  for (std::uint32_t node = 0; node < plan.nodes(); ++node) {
    lines += fmt::format("fdb replace {} dev {} master static\n", node_mac(node), hub_port(node));
  }
  if (plan.has_gateway) {
    lines += fmt::format("fdb replace {} dev {} master static\n", uplink_mac(), kUplinkPort);
  }
  return lines;
}

std::string hub_tc_lines(const LabPlan& plan) {
  std::string lines;
  for (std::uint32_t node = 0; node < plan.nodes(); ++node) {
    const LinkSettings& link = plan.links[node];
    lines += tbf_line(hub_port(node), link.down_bits_per_s, plan, link);
  }
  return lines;
}

namespace {

// Static neighbours: a lost ARP request would cost a second that is not the link's.
std::string neighbours(const LabPlan& plan, std::uint32_t node) {
  std::string lines;
  const auto add = [&](std::uint32_t other, const std::string& mac, std::string_view interface) {
    lines += fmt::format("neigh replace {} lladdr {} dev {} nud permanent\n", node_address(other),
                         mac, interface);
  };
  for (std::uint32_t other = 0; other < plan.nodes(); ++other) {
    if (other == node) continue;
    if (plan.is_outside(node)) {
      if (plan.is_gateway(other)) add(other, uplink_mac(), kNodeInterface);
    } else if (plan.is_outside(other)) {
      if (plan.is_gateway(node)) add(other, node_mac(other), kUplinkInterface);
    } else {
      add(other, node_mac(other), kNodeInterface);
    }
  }
  return lines;
}

// Node 0 has the network of the others behind the gateway, and they have node 0 behind it. Results
// by multicast stay among the others.
std::string gateway_lines(const LabPlan& plan, std::uint32_t node) {
  const std::string gateway = node_address(plan.nodes() - 1);
  if (plan.is_outside(node)) {
    return fmt::format("route add {0}/32 dev {1}\nroute add 10.77.0.0/24 via {0} dev {1}\n",
                       gateway, kNodeInterface);
  }
  std::string lines = fmt::format("route add 224.0.0.0/4 dev {}\n", kNodeInterface);
  if (plan.is_gateway(node)) {
    return lines + fmt::format("link set {0} up\nroute add {1}/32 dev {0}\n", kUplinkInterface,
                               node_address(0));
  }
  return lines + fmt::format("route add {}/32 via {}\n", node_address(0), gateway);
}

}  // namespace

std::string node_ip_lines(const LabPlan& plan, std::uint32_t node) {
  std::string lines = "link set lo up\n";
  if (needs_user_space(plan.links[node])) {
    lines += fmt::format("link set {} address {} mtu {} txqueuelen {}{}\n", kNodeInterface,
                         node_mac(node), plan.mtu_bytes, kTapQueuePackets,
                         frames_limit(plan.links[node].up_bits_per_s, plan));
  }
  lines += fmt::format("addr add {}/{} dev {}\nlink set {} up\n", node_address(node),
                       plan.is_outside(node) ? "32" : "24 brd +", kNodeInterface, kNodeInterface);
  if (plan.has_gateway) return lines + gateway_lines(plan, node) + neighbours(plan, node);
  return lines + neighbours(plan, node);
}

std::string node_tc_lines(const LabPlan& plan, std::uint32_t node) {
  const LinkSettings& link = plan.links[node];
  return tbf_line(kNodeInterface, link.up_bits_per_s, plan, link);
}

// Each direction crosses both links once.
double round_trip_s(const LinkSettings& a, const LinkSettings& b) {
  return 2e-9 * static_cast<double>((a.delay + b.delay).count());
}

}  // namespace tributary
