// The program itself on virtual Ethernet devices: agents in namespaces of their own, behind a
// bridge, which lose one datagram in a hundred. Native and generic mode; results by multicast and
// by unicast.
#include "switch_p4/switchd/daemon.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/collective/in_network/bucket_exchange.h"
#include "core/net/udp/udp_port.h"
#include "switch_p4/switchd/program_testing.h"
#include "switch_p4/xdp/frame_testing.h"
#include "switch_p4/xdp/gateway.h"

namespace tributary::switch_xdp {
namespace {

using in_network::BucketEnd;
using in_network::BucketExchange;

constexpr std::uint32_t kAgents = 3;
constexpr std::size_t kValues = 64 * 1024;
constexpr std::uint32_t kSlots = 16;
constexpr std::int64_t kDeadlineNs = 600'000'000'000;  // none on a busy machine either
constexpr UdpAddress kGateway = {.ip = 0x0a4d0901, .port = 4650};
constexpr UdpAddress kGroup = {.ip = 0xefff0107, .port = 4651};

// While it lives, this thread's new sockets and devices are those of the namespace.
class InNamespace {
 public:
  explicit InNamespace(const std::string& name)
      : home_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    const int there = ::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(::setns(there, CLONE_NEWNET), 0) << name;
    ::close(there);
  }
  ~InNamespace() {
    EXPECT_EQ(::setns(home_, CLONE_NEWNET), 0);
    ::close(home_);
  }
  InNamespace(const InNamespace&) = delete;
  InNamespace& operator=(const InNamespace&) = delete;

 private:
  const int home_;
};

// A bridge with a gateway and three agents, each in a namespace: 10.77.9.1 to 10.77.9.4 at eth0.
class Network {
 public:
  Network() : name_("trib-xdp-" + std::to_string(::getpid()) + "-") {
    std::string script = "set -e; n=" + name_ + R"(
      ip netns add ${n}hub; ip -n ${n}hub link add br0 type bridge; ip -n ${n}hub link set br0 up
      at=0
      for node in gate a0 a1 a2; do
        at=$((at + 1))
        ip netns add $n$node
        ip -n ${n}hub link add to-$node type veth peer name eth0 netns $n$node
        ip -n ${n}hub link set to-$node master br0 up
        ip -n $n$node addr add 10.77.9.$at/24 dev eth0
        ip -n $n$node link set eth0 up
        ip -n $n$node route add 224.0.0.0/4 dev eth0
      done)";
    failure_ = run(script);
  }
  ~Network() {
    if (link_ >= 0) ::close(link_);
    run("for node in hub gate a0 a1 a2; do ip netns del " + name_ + "$node; done");
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const std::string& failure() const { return failure_; }
  std::string node(const std::string& name) const { return name_ + name; }
  // XDP_TX on a virtual device needs a program at its other end.
  void attach_to_the_other_end() {
    const InNamespace hub(node("hub"));
    const std::vector<bpf_insn> instructions = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K,
         .dst_reg = 0,
         .src_reg = 0,
         .off = 0,
         .imm = XDP_PASS},
        {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
    const int program = bpf_prog_load(BPF_PROG_TYPE_XDP, "passes", "Apache-2.0",
                                      instructions.data(), instructions.size(), nullptr);
    link_ =
        bpf_link_create(program, static_cast<int>(::if_nametoindex("to-gate")), BPF_XDP, nullptr);
    ::close(program);
    ASSERT_GE(link_, 0);
  }
  bool gateway_has_a_program() const {
    const InNamespace gate(node("gate"));
    std::uint32_t id = 0;
    EXPECT_EQ(bpf_xdp_query_id(static_cast<int>(::if_nametoindex("eth0")), 0, &id), 0);
    return id != 0;
  }

 private:
  static std::string run(const std::string& script) {
    std::string text;
    FILE* const out = ::popen(("( " + script + " ) 2>&1").c_str(), "r");
    if (out == nullptr) return "no shell";
    std::array<char, 256> part = {};
    while (std::fgets(part.data(), part.size(), out) != nullptr) text += part.data();
    return ::pclose(out) == 0 ? std::string() : "no network can be made: " + text;
  }

  const std::string name_;
  std::string failure_;
  int link_ = -1;
};

// The process in the gateway's namespace.
class RunningGateway : public switchd::ProgramInFolder {
 public:
  explicit RunningGateway(const Network& network) : network_(network) {}

  void write_settings(std::uint32_t epoch, XdpMode mode, bool by_group,
                      const std::string& device = "eth0") const {
    std::ofstream file(settings_file());
    file << "[switch]\nlisten = \"" << kGateway.text() << "\"\ndevice = \"" << device
         << "\"\nmode = \"" << name(mode) << "\"\nslots = 64\nstate = \"" << folder()
         << "/epochs\"\n";
    if (by_group) file << "group = \"" << kGroup.text() << "\"\n";
    file << "jobs = [\"handle=7 epoch=" << epoch << " agents=" << kAgents
         << " granularity=30 table=99 slots=" << kSlots
         << " places=0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30\"]\n";
  }
  void start() { ProgramInFolder::start(command(), "attached"); }
  void launch() { ProgramInFolder::launch(command()); }

 private:
  std::vector<std::string> command() const {
    return {"ip",       "netns",         "exec",  network_.node("gate"), TRIBUTARY_SWITCH_XDP,
            "--config", settings_file(), "--json"};
  }

  const Network& network_;
};

class AgentsInNamespaces {
 public:
  AgentsInNamespaces(const Network& network, bool by_group) {
    for (std::uint8_t a = 0; a < kAgents; ++a) {
      const InNamespace here(network.node("a" + std::to_string(a)));
      ports_.push_back(*UdpPort::open({.segments = false}));
      if (by_group) groups_.push_back(*UdpPort::open({.listen = kGroup, .segments = false}));
      exchanges_.emplace_back(
          in_network::BucketJob{.handle = 7, .agent = a, .agents = kAgents, .table = 99},
          in_network::SlotClientOptions{.slots = kSlots, .window = 8});
      levels_.emplace_back(kValues / 2);
      sums_.emplace_back(kValues);
    }
  }

  void begin(std::uint32_t epoch) {
    for (std::uint32_t a = 0; a < kAgents; ++a) {
      for (std::uint32_t i = 0; i < levels_[a].size(); ++i) {
        levels_[a][i] = static_cast<std::uint8_t>(random_bits({epoch, a}, i));
      }
      exchanges_[a].enter(epoch);
      ASSERT_TRUE(exchanges_[a].begin(levels_[a], sums_[a], now() + kDeadlineNs).ok());
    }
  }
  void run() {
    while (!ended()) {
      std::int64_t wake = now() + 100'000'000;
      std::vector<pollfd> ready;
      for (std::uint32_t a = 0; a < kAgents; ++a) {
        send(a);
        wake = std::min(wake, exchanges_[a].next_time_ns());
        ready.push_back({.fd = ports_[a]->file(), .events = POLLIN, .revents = 0});
        if (by_group()) {
          ready.push_back({.fd = groups_[a]->file(), .events = POLLIN, .revents = 0});
        }
      }
      const std::int64_t wait_ms = std::max<std::int64_t>(wake - now(), 0) / 1'000'000 + 1;
      ::poll(ready.data(), ready.size(), static_cast<int>(wait_ms));
      for (std::uint32_t a = 0; a < kAgents; ++a) {
        receive(a, *ports_[a]);
        if (by_group()) receive(a, *groups_[a]);
        exchanges_[a].on_time(now());
      }
    }
  }
  void expect_all(BucketEnd end) const {
    for (const BucketExchange& exchange : exchanges_) EXPECT_EQ(exchange.end(), end);
  }
  void expect_exact() const {
    expect_all(BucketEnd::complete);
    for (std::size_t i = 0; i < kValues; ++i) {
      unsigned sum = 0;
      for (const Bytes& levels : levels_) sum += 2u * (levels[i / 2] >> (i % 2 * 4) & 15);
      for (const Bytes& sums : sums_) ASSERT_EQ(sums[i], sum) << i;
    }
  }

 private:
  static std::int64_t now() { return SystemClock().now().count(); }
  bool by_group() const { return !groups_.empty(); }
  void receive(std::uint32_t a, UdpPort& port) {
    const auto got = port.receive([&](ByteSpan bytes, UdpAddress) {
      if (!lost()) exchanges_[a].receive(bytes, now());
    });
    ASSERT_TRUE(got.ok()) << got.status().text();
  }
  bool lost() { return random_bits({5, 6}, draws_++) % 100 == 0; }
  bool ended() const {
    for (const BucketExchange& exchange : exchanges_) {
      if (exchange.end() == BucketEnd::running) return false;
    }
    return true;
  }
  // Headers stay where they are until the flush.
  void send(std::uint32_t a) {
    std::deque<in_network::BucketPacket> packets;
    while (const auto packet = exchanges_[a].next_packet(now())) {
      if (lost()) continue;
      packets.push_back(*packet);
      ports_[a]->queue(kGateway, packets.back().header, packets.back().body);
    }
    ports_[a]->flush();
  }

  std::vector<std::unique_ptr<UdpPort>> ports_;
  std::vector<std::unique_ptr<UdpPort>> groups_;  // where results to all arrive; or none
  std::deque<BucketExchange> exchanges_;
  std::vector<Bytes> levels_;
  std::vector<Bytes> sums_;
  std::uint32_t draws_ = 0;
};

struct Setup {
  XdpMode mode;
  bool by_group;
};

class SwitchXdp : public testing::TestWithParam<Setup> {
 protected:
  static void SetUpTestSuite() {
    failure_ = xdp_refusal();
    if (!failure_.empty()) return;
    network_ = std::make_unique<Network>();
    failure_ = network_->failure();
    if (failure_.empty()) network_->attach_to_the_other_end();
  }
  static void TearDownTestSuite() { network_.reset(); }
  void SetUp() override {
    if (failure_.empty()) return;
    const char* const required = std::getenv("REQUIRE_XDP");
    if (required != nullptr && std::string_view(required) == "1") FAIL() << failure_;
    GTEST_SKIP() << failure_;
  }

  static std::unique_ptr<Network> network_;
  static std::string failure_;
};
std::unique_ptr<Network> SwitchXdp::network_;
std::string SwitchXdp::failure_;

TEST_P(SwitchXdp, SumsAreExactWithLosses) {
  const auto [mode, by_group] = GetParam();
  RunningGateway program(*network_);
  program.write_settings(1, mode, by_group);
  program.start();
  EXPECT_TRUE(network_->gateway_has_a_program());
  AgentsInNamespaces agents(*network_, by_group);
  agents.begin(1);
  agents.run();
  agents.expect_exact();
  EXPECT_EQ(program.stop(SIGTERM), 0);
  EXPECT_FALSE(network_->gateway_has_a_program());
  const nlohmann::json counters = program.last_counters();
  SCOPED_TRACE(counters.dump());
  EXPECT_EQ(counters["mode"], name(mode));
  EXPECT_EQ(counters["results"], kValues / 1024);
  EXPECT_EQ(counters["contributions"], kAgents * kValues / 1024);
  EXPECT_EQ(counters["drops"]["foreign"], 0);
  EXPECT_GT(counters["repeats"], 0);
  EXPECT_EQ(counters["passed"], 0);
  EXPECT_GE(counters["handed_over"], by_group ? 0 : kValues / 1024);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, SwitchXdp,
    testing::Values(Setup{XdpMode::native, true}, Setup{XdpMode::native, false},
                    Setup{XdpMode::generic, true}, Setup{XdpMode::generic, false}),
    [](const auto& run) {
      return std::string(run.param.mode == XdpMode::native ? "Native" : "Generic") +
             (run.param.by_group ? "ByGroup" : "ByUnicast");
    });

using SwitchXdpRestart = SwitchXdp;

TEST_P(SwitchXdpRestart, AKilledProcessLeavesNothingAndRefusesUntilANewEpoch) {
  RunningGateway program(*network_);
  program.write_settings(1, XdpMode::any, false);
  program.start();
  EXPECT_TRUE(network_->gateway_has_a_program());
  EXPECT_EQ(program.stop(SIGKILL), 128 + SIGKILL);
  EXPECT_FALSE(network_->gateway_has_a_program());
  program.start();  // with the same settings
  program.wait_for_log("it was used before", 1);
  AgentsInNamespaces agents(*network_, false);
  agents.begin(1);
  agents.run();
  agents.expect_all(BucketEnd::refused);
  program.write_settings(2, XdpMode::any, false);
  program.send_signal(SIGHUP);
  program.wait_for_log("epoch installed", 2);
  agents.begin(2);
  agents.run();
  agents.expect_exact();
  EXPECT_EQ(program.stop(SIGTERM), 0);
  EXPECT_GE(program.last_counters()["drops"]["unknown_job"], kAgents);
}

TEST_P(SwitchXdpRestart, ADeviceThatIsMissingCostsNoEpoch) {
  RunningGateway program(*network_);
  program.write_settings(1, XdpMode::any, false, "eth9");
  program.launch();
  EXPECT_NE(program.wait(), 0);
  program.write_settings(1, XdpMode::any, false);
  program.start();
  program.wait_for_log("epoch installed", 1);
  EXPECT_EQ(program.stop(SIGTERM), 0);
}

INSTANTIATE_TEST_SUITE_P(Any, SwitchXdpRestart, testing::Values(Setup{XdpMode::any, false}),
                         [](const auto&) { return std::string("ByUnicast"); });

}  // namespace
}  // namespace tributary::switch_xdp
