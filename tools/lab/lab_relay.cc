#include "tools/lab/lab_relay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "core/lab/lab_names.h"
#include "core/lab/wire_bytes.h"
#include "tools/lab/lab_counts.h"
#include "tools/lab/lab_kernel.h"
#include "tools/lab/lab_relay_loop.h"

namespace tributary {
namespace {

constexpr const char* kTun = "/dev/net/tun";

Status tap_error(std::string what, int error) {
  return Status(
      StatusCode::io_error,
      {.what = std::move(what),
       .expected = "a TAP interface",
       .got = std::generic_category().message(error),
       .remedy = error == ENOENT ? "this kernel has no TUN/TAP: load it with 'modprobe tun', "
                                   "or use links with a rate alone"
                                 : ""});
}

// Opens a TAP in a namespace. Each packet has an offload header, so the kernel need not compute
// checksums or cut packets.
Result<int> open_tap(const std::string& in_namespace, std::string_view name, bool uncut) {
  const std::string what = fmt::format("{} in {}", name, in_namespace);
  TRIBUTARY_ASSIGN(const InNamespace inside, InNamespace::enter(in_namespace));
  const int file = ::open(kTun, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return tap_error(kTun, errno);
  ifreq request = {};
  std::ranges::copy(name, request.ifr_name);
  request.ifr_flags = static_cast<short>(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR);
  int header_bytes = sizeof(OffloadHeader);
  const unsigned long offload =
      uncut ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN : TUN_F_CSUM;
  if (::ioctl(file, TUNSETIFF, &request) == 0 &&
      ::ioctl(file, TUNSETVNETHDRSZ, &header_bytes) == 0 &&
      ::ioctl(file, TUNSETOFFLOAD, offload) == 0) {
    return file;
  }
  const int error = errno;
  ::close(file);
  return tap_error(what, error);
}

// Each direction has its own random stream.
Result<PacketLink> make_line(const LabPlan& plan, const RelayTaps::Link& link, bool up,
                             std::uint64_t seed) {
  const LinkSettings& settings = plan.links[link.node];
  const std::uint64_t bits_per_s = up ? settings.up_bits_per_s : settings.down_bits_per_s;
  return PacketLink::make({.delay = settings.delay,
                           .jitter = settings.jitter,
                           .bytes_per_s = bits_per_s / 8,
                           .loss = settings.loss,
                           .reorder = settings.reorder,
                           .queue_bytes = queue_bytes_for(settings, bits_per_s, plan.mtu_bytes),
                           .seed = seed,
                           .stream = 2 * link.node + (up ? 0u : 1u)});
}

Result<std::vector<RelayDirection>> make_directions(const LabPlan& plan, const RelayTaps& taps,
                                                    std::uint64_t seed, CountsFile& counts) {
  std::vector<RelayDirection> directions;
  for (const RelayTaps::Link& link : taps.links()) {
    for (const bool up : {true, false}) {
      TRIBUTARY_ASSIGN(PacketLink packet_link, make_line(plan, link, up, seed));
      NodeCounts& node = counts.node(link.node);
      directions.push_back({.from = up ? link.node_tap : link.hub_tap,
                            .to = up ? link.hub_tap : link.node_tap,
                            .link = std::move(packet_link),
                            .trace = link.trace.empty() ? nullptr : &link.trace.front(),
                            .mtu_bytes = plan.mtu_bytes,
                            .counts = up ? &node.up : &node.down});
    }
  }
  return directions;
}

// Closes all files but the TAPs and `kept`. A program that waits for the end of our output must not
// wait for the relay, and the relay must not keep an inherited lock.
void let_go_of_all_but(const RelayTaps& taps, int kept) {
  std::vector<int> open;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename().string();
    int file = -1;
    std::from_chars(name.data(), name.data() + name.size(), file);
    open.push_back(file);
  }
  for (const int file : open) {
    const auto is_tap = [file](const RelayTaps::Link& link) {
      return link.node_tap == file || link.hub_tap == file;
    };
    if (file > STDERR_FILENO && file != kept && std::ranges::none_of(taps.links(), is_tap)) {
      ::close(file);
    }
  }
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, file);
  ::close(nowhere);
}

// Requests precise timers and real-time priority, so links keep their times while the programs
// under test occupy every processor.
void ask_for_punctuality() {
  ::prctl(PR_SET_NAME, "tributary-relay");
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  const sched_param priority = {.sched_priority = 1};
  ::sched_setscheduler(0, SCHED_RR, &priority);
}

// The child's life: a session of its own, no inherited files, the hub's namespace, then the loop.
[[noreturn]] void become_relay(const LabPlan& plan, const RelayTaps& taps,
                               const RelayOptions& options, int ready) {
  constexpr char kReady = 1;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  ::setsid();
  std::error_code ignored;
  std::filesystem::current_path("/", ignored);
  let_go_of_all_but(taps, ready);
  ask_for_punctuality();
  Result<CountsFile> counts = CountsFile::create(options.counts_path, plan.nodes());
  if (!counts.ok() || !enter_namespace(hub_namespace(plan.name)).ok()) ::_exit(1);
  auto directions = make_directions(plan, taps, options.seed, *counts);
  if (!directions.ok() || ::write(ready, &kReady, 1) != 1) ::_exit(1);
  ::close(ready);
  ignore_error(run_relay_loop(*directions));
  ::_exit(1);
}

}  // namespace

Result<RelayTaps> RelayTaps::open(const LabPlan& plan) {
  RelayTaps taps;
  for (std::uint32_t node = 0; node < plan.nodes(); ++node) {
    const LinkSettings& settings = plan.links[node];
    if (!needs_user_space(settings)) continue;
    Link& link = taps.links_.emplace_back();
    link.node = node;
    if (!settings.trace.empty()) {
      TRIBUTARY_ASSIGN(LinkTrace trace, LinkTrace::read(settings.trace));
      link.trace.push_back(std::move(trace));
    }
    // Uncut packets (GSO) allow a gigabit with little work. Reordering concerns single frames, so a
    // link that reorders receives them one by one.
    const bool uncut = settings.reorder == 0;
    TRIBUTARY_ASSIGN(link.node_tap,
                     open_tap(node_namespace(plan.name, node), kNodeInterface, uncut));
    TRIBUTARY_ASSIGN(link.hub_tap, open_tap(hub_namespace(plan.name), hub_port(node), uncut));
  }
  return taps;
}

RelayTaps::~RelayTaps() {
  for (const Link& link : links_) {
    if (link.node_tap >= 0) ::close(link.node_tap);
    if (link.hub_tap >= 0) ::close(link.hub_tap);
  }
}

// Waits for one byte from the relay, so an error at its start is reported.
Result<pid_t> start_relay(const LabPlan& plan, const RelayTaps& taps, const RelayOptions& options) {
  std::array<int, 2> ready = {-1, -1};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) return tap_error("the relay", errno);
  const pid_t process = ::fork();
  if (process == 0) become_relay(plan, taps, options, ready[1]);
  const int error = errno;
  ::close(ready[1]);
  char report = 0;
  ssize_t size = 0;
  do {
    size = ::read(ready[0], &report, 1);
  } while (size < 0 && errno == EINTR);
  ::close(ready[0]);
  if (process > 0 && size == 1) return process;
  return Status(StatusCode::io_error,
                {.what = "relay process of the links",
                 .expected = "a running process",
                 .got = process < 0 ? std::generic_category().message(error) : "it ended at once",
                 .remedy = {}});
}

}  // namespace tributary
