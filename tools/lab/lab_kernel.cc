#include "tools/lab/lab_kernel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/process/process.h"
#include "core/lab/lab_names.h"
#include "tools/lab/lab_tool.h"

namespace tributary {
namespace {

namespace fs = std::filesystem;

// The folder in which `ip netns` keeps its namespaces.
constexpr const char* kNamespaces = "/run/netns";
// ip netns exec binds the files there over those in /etc
constexpr const char* kHosts = "/etc/netns";

Status system_error(std::string what, int error) {
  return Status(StatusCode::io_error, {.what = std::move(what),
                                       .expected = {},
                                       .got = std::generic_category().message(error),
                                       .remedy = {}});
}

std::string path_of(const std::string& name) { return fmt::format("{}/{}", kNamespaces, name); }

// Sets a sysctl of the current namespace. A sysctl that this kernel lacks is skipped.
Status set_sysctl(const std::string& name, const std::string& value) {
  const std::string path = "/proc/sys/net/" + name;
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? Status() : system_error(path, errno);
  const int error = write_all(file, value);
  ::close(file);
  return error == 0 ? Status() : system_error(fmt::format("{} = {}", path, value), error);
}

// Writes /etc/hosts for the nodes: name resolution must not leave the lab.
Status make_hosts_file(const std::string& name, const std::string& text) {
  const std::string folder = fmt::format("{}/{}", kHosts, name);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return system_error(folder, error.value());
  const std::string path = folder + "/hosts";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return system_error(path, errno);
  const int write_error = write_all(file, text);
  ::close(file);
  return write_error == 0 ? Status() : system_error(path, write_error);
}

// The hub is a namespace with the bridge to which all links lead.
Status make_hub(const LabPlan& plan) {
  const std::string name = hub_namespace(plan.name);
  const Status added = run_tool({"ip", "netns", "add", name}).status();
  if (added.code() == StatusCode::io_error) {
    return Status(StatusCode::io_error,
                  {.what = added.fault().what,
                   .expected = "a new network namespace",
                   .got = added.fault().got,
                   .remedy = "start the container with the privilege to create namespaces, or use "
                             "the host"});
  }
  TRIBUTARY_TRY(added);
  TRIBUTARY_ASSIGN(const InNamespace inside, InNamespace::enter(name));
  // IPv6 and the host's netfilter rules must not touch the packets on the bridge.
  TRIBUTARY_TRY(set_sysctl("ipv6/conf/default/disable_ipv6", "1"));
  for (const char* each :
       {"bridge-nf-call-iptables", "bridge-nf-call-ip6tables", "bridge-nf-call-arptables"}) {
    TRIBUTARY_TRY(set_sysctl(fmt::format("bridge/{}", each), "0"));
  }
  return {};
}

// A namespace with its own hosts file and TCP settings. Interfaces are added later.
Status make_node(const LabPlan& plan, std::uint32_t node, const std::string& congestion_control) {
  const std::string name = node_namespace(plan.name, node);
  TRIBUTARY_TRY(run_tool({"ip", "netns", "add", name}).status());
  TRIBUTARY_TRY(make_hosts_file(name, hosts_file(plan.nodes())));
  TRIBUTARY_ASSIGN(const InNamespace inside, InNamespace::enter(name));
  // IPv6 is off, because neighbour discovery would add traffic. The loopback interface keeps ::1.
  TRIBUTARY_TRY(set_sysctl("ipv6/conf/default/disable_ipv6", "1"));
  // A connection must not start with measurements of an earlier one.
  TRIBUTARY_TRY(set_sysctl("ipv4/tcp_no_metrics_save", "1"));
  if (plan.is_gateway(node)) TRIBUTARY_TRY(set_sysctl("ipv4/ip_forward", "1"));
  if (congestion_control.empty()) return {};
  Status set = set_sysctl("ipv4/tcp_congestion_control", congestion_control);
  if (set.ok()) return {};
  return Status(StatusCode::not_found,
                {.what = fmt::format("congestion control '{}'", congestion_control),
                 .expected = "an algorithm that this kernel has and allows",
                 .got = set.fault().got,
                 .remedy = "see 'sysctl net.ipv4.tcp_available_congestion_control', and add it to "
                           "net.ipv4.tcp_allowed_congestion_control"});
}

// Runs all lines with one call of the tool, which is much faster than a call per line.
Status run_batch(const char* tool, const std::string& name, const std::string& lines) {
  if (lines.empty()) return {};
  return run_tool({tool, "-n", name, "-batch", "-"}, lines).status();
}

Status stopped() { return Status(StatusCode::cancelled, {.what = "creation of the lab"}); }

// Switches GRO on at a device: an XDP program at the other end of a virtual device can send packets
// back only then.
Status join_segments_at(const std::string& name, const std::string& device) {
  TRIBUTARY_ASSIGN(const InNamespace inside, InNamespace::enter(name));
  const int file = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ethtool_value value = {.cmd = ETHTOOL_SGRO, .data = 1};
  ifreq request = {};
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&value);
  const int error = ::ioctl(file, SIOCETHTOOL, &request) == 0 ? 0 : errno;
  ::close(file);
  return error == 0 ? Status() : system_error(fmt::format("GRO at {}", device), error);
}

}  // namespace

Status check_lab_is_possible() {
  if (::geteuid() == 0) return {};
  return Status(StatusCode::unsupported, {.what = "a lab of network namespaces",
                                          .expected = "root",
                                          .got = fmt::format("user {}", ::geteuid()),
                                          .remedy = "run it as root, or with sudo"});
}

// Only the calling thread changes its namespace.
Status enter_namespace(const std::string& name) {
  const int file = ::open(path_of(name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_error(path_of(name), errno);
  const int error = ::setns(file, CLONE_NEWNET) == 0 ? 0 : errno;
  ::close(file);
  return error == 0 ? Status() : system_error(path_of(name), error);
}

// Keeps a handle of the thread's own namespace for the way back.
Result<InNamespace> InNamespace::enter(const std::string& name) {
  const int home = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (home < 0) return system_error("/proc/thread-self/ns/net", errno);
  InNamespace inside(home);
  TRIBUTARY_TRY(enter_namespace(name));
  return inside;
}

InNamespace::InNamespace(InNamespace&& other) noexcept : home_(std::exchange(other.home_, -1)) {}

InNamespace::~InNamespace() {
  if (home_ < 0) return;
  ::setns(home_, CLONE_NEWNET);
  ::close(home_);
}

std::vector<std::string> FoundLab::namespaces(const std::string& lab) const {
  std::vector<std::string> names;
  if (has_hub) names.push_back(hub_namespace(lab));
  for (const std::uint32_t node : nodes) names.push_back(node_namespace(lab, node));
  return names;
}

// Labs are recognized by the names of their namespaces, so that a lab without a description is
// found too.
std::map<std::string, FoundLab> find_labs() {
  std::map<std::string, FoundLab> labs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kNamespaces, error)) {
    const auto found = parse_lab_namespace(entry.path().filename().string());
    if (!found) continue;
    FoundLab& lab = labs[found->lab];
    if (found->node) {
      lab.nodes.push_back(*found->node);
    } else {
      lab.has_hub = true;
    }
  }
  for (auto& [name, lab] : labs) std::ranges::sort(lab.nodes);
  return labs;
}

// Compares the identity of each process's network namespace with that of the named ones.
std::vector<pid_t> processes_in(const std::vector<std::string>& namespaces) {
  std::set<std::pair<dev_t, ino_t>> identities;
  for (const std::string& name : namespaces) {
    struct stat about = {};
    if (::stat(path_of(name).c_str(), &about) == 0) identities.emplace(about.st_dev, about.st_ino);
  }
  std::vector<pid_t> processes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t process = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (bad != std::errc() || *end != '\0' || process == ::getpid()) continue;
    struct stat about = {};
    if (::stat((entry.path() / "ns/net").c_str(), &about) == 0 &&
        identities.contains({about.st_dev, about.st_ino})) {
      processes.push_back(process);
    }
  }
  return processes;
}

Status make_namespaces(const LabPlan& plan, const std::string& congestion_control) {
  TRIBUTARY_TRY(make_hub(plan));
  for (std::uint32_t node = 0; node < plan.nodes(); ++node) {
    if (stop_signal() != 0) return stopped();
    TRIBUTARY_TRY(make_node(plan, node, congestion_control));
  }
  return {};
}

// The hub first, because a link's other end is created with it.
Status make_links(const LabPlan& plan) {
  const std::string hub = hub_namespace(plan.name);
  TRIBUTARY_TRY(run_batch("ip", hub, hub_ip_lines(plan)));
  TRIBUTARY_TRY(run_batch("bridge", hub, hub_bridge_lines(plan)));
  TRIBUTARY_TRY(run_batch("tc", hub, hub_tc_lines(plan)));
  if (plan.has_gateway) TRIBUTARY_TRY(join_segments_at(hub, hub_port(plan.nodes() - 1)));
  for (std::uint32_t node = 0; node < plan.nodes(); ++node) {
    if (stop_signal() != 0) return stopped();
    const std::string name = node_namespace(plan.name, node);
    TRIBUTARY_TRY(run_batch("ip", name, node_ip_lines(plan, node)));
    TRIBUTARY_TRY(run_batch("tc", name, node_tc_lines(plan, node)));
  }
  return {};
}

namespace {

// Sends SIGTERM first, and SIGKILL after a second.
void end_processes(const std::vector<std::string>& namespaces) {
  constexpr std::chrono::milliseconds kStep{10};
  constexpr int kStepsAsked = 100;
  constexpr int kStepsKilled = 300;
  for (int step = 0; step < kStepsAsked + kStepsKilled; ++step) {
    const std::vector<pid_t> processes = processes_in(namespaces);
    if (processes.empty()) return;
    for (const pid_t process : processes) {
      if (step == 0) ::kill(process, SIGTERM);
      if (step >= kStepsAsked) ::kill(process, SIGKILL);
    }
    std::this_thread::sleep_for(kStep);
  }
}

}  // namespace

// Continues after an error, and returns the first one.
Status remove_namespaces(const std::string& lab, const FoundLab& found) {
  const std::vector<std::string> namespaces = found.namespaces(lab);
  end_processes(namespaces);
  Status first;
  std::error_code ignored;
  for (const std::string& name : namespaces) {
    fs::remove_all(fmt::format("{}/{}", kHosts, name), ignored);
    Status removed = run_tool({"ip", "netns", "del", name}).status();
    if (first.ok() && !removed.ok()) first = std::move(removed);
  }
  fs::remove(kHosts, ignored);  // succeeds only if the folder is empty
  return first;
}

}  // namespace tributary
