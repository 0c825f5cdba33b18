// The program itself, with agents on real sockets that lose one datagram in a hundred.
#include "switch_p4/switchd/daemon.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <deque>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/collective/in_network/bucket_exchange.h"
#include "core/net/udp/udp_port.h"
#include "core/net/udp/udp_testing.h"
#include "switch_p4/switchd/program_testing.h"

namespace tributary::switchd {
namespace {

using in_network::BucketEnd;
using in_network::BucketExchange;

constexpr std::uint32_t kAgents = 4;
constexpr std::size_t kValues = 256 * 1024;
constexpr std::uint32_t kSlots = 32;
constexpr std::int64_t kDeadlineNs = 600'000'000'000;  // none on a busy machine either

class RunningSwitch : public ProgramInFolder {
 public:
  void write_settings(std::uint32_t epoch) const {
    std::ofstream file(settings_file());
    file << "[switch]\nlisten = \"" << address_.text() << "\"\nstate = \"" << folder()
         << "/epochs\"\nslots = 64\njobs = [\"handle=7 epoch=" << epoch << " agents=" << kAgents
         << " granularity=30 table=99 slots=" << kSlots
         << " places=0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30\"]\n";
  }
  void start() {
    ProgramInFolder::start({TRIBUTARY_SWITCHD, "--config", settings_file(), "--json"}, "listening");
  }
  UdpAddress address() const { return address_; }

 private:
  const UdpAddress address_ = net_testing::address_of_own();
};

class LossyAgents {
 public:
  explicit LossyAgents(UdpAddress aggregator) : aggregator_(aggregator) {
    for (std::uint8_t a = 0; a < kAgents; ++a) {
      ports_.push_back(*UdpPort::open({.listen = {.ip = 0x7f000001}}));
      exchanges_.emplace_back(
          in_network::BucketJob{.handle = 7, .agent = a, .agents = kAgents, .table = 99},
          in_network::SlotClientOptions{.slots = kSlots, .window = 8});
      levels_.emplace_back(kValues / 2);
      sums_.emplace_back(kValues);
    }
  }

  void enter(std::uint32_t epoch) {
    for (BucketExchange& exchange : exchanges_) exchange.enter(epoch);
  }
  void begin(std::uint32_t bucket) {
    for (std::uint32_t a = 0; a < kAgents; ++a) {
      for (std::uint32_t i = 0; i < levels_[a].size(); ++i) {
        levels_[a][i] = static_cast<std::uint8_t>(random_bits({bucket, a}, i));
      }
      ASSERT_TRUE(exchanges_[a].begin(levels_[a], sums_[a], now() + kDeadlineNs).ok());
    }
  }
  // Runs until all have ended, or until an agent has sent so many packets.
  void run(std::uint64_t sent_max = UINT64_MAX) {
    while (!ended() && exchanges_[0].client().sent() < sent_max) {
      std::int64_t wake = now() + 100'000'000;
      std::vector<pollfd> ready;
      for (std::uint32_t a = 0; a < kAgents; ++a) {
        send(a);
        wake = std::min(wake, exchanges_[a].next_time_ns());
        ready.push_back({.fd = ports_[a]->file(), .events = POLLIN, .revents = 0});
      }
      const std::int64_t wait_ms = std::max<std::int64_t>(wake - now(), 0) / 1'000'000 + 1;
      ::poll(ready.data(), ready.size(), static_cast<int>(wait_ms));
      for (std::uint32_t a = 0; a < kAgents; ++a) {
        const auto got = ports_[a]->receive([&](ByteSpan bytes, UdpAddress) {
          if (!lost()) exchanges_[a].receive(bytes, now());
        });
        ASSERT_TRUE(got.ok()) << got.status().text();
        exchanges_[a].on_time(now());
      }
    }
  }
  bool ended() const {
    for (const BucketExchange& exchange : exchanges_) {
      if (exchange.end() == BucketEnd::running) return false;
    }
    return true;
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
  std::uint64_t repeats() const { return exchanges_[0].client().repeats(); }

 private:
  static std::int64_t now() { return SystemClock().now().count(); }
  bool lost() { return random_bits({5, 6}, draws_++) % 100 == 0; }
  // Headers stay where they are until the flush.
  void send(std::uint32_t a) {
    std::deque<in_network::BucketPacket> packets;
    while (const auto packet = exchanges_[a].next_packet(now())) {
      if (lost()) continue;
      packets.push_back(*packet);
      ports_[a]->queue(aggregator_, packets.back().header, packets.back().body);
    }
    ports_[a]->flush();
  }

  const UdpAddress aggregator_;
  std::vector<std::unique_ptr<UdpPort>> ports_;
  std::deque<BucketExchange> exchanges_;
  std::vector<Bytes> levels_;
  std::vector<Bytes> sums_;
  std::uint32_t draws_ = 0;
};

TEST(Switchd, SumsAreExactWithLosses) {
  RunningSwitch program;
  program.write_settings(1);
  program.start();
  LossyAgents agents(program.address());
  agents.enter(1);
  for (std::uint32_t bucket = 0; bucket < 2; ++bucket) {
    agents.begin(bucket);
    agents.run();
    agents.expect_exact();
  }
  EXPECT_GT(agents.repeats(), 0u);
  EXPECT_EQ(program.stop(SIGTERM), 0);
  const nlohmann::json counters = program.last_counters();
  EXPECT_EQ(counters["results"], 2 * kValues / 1024);
  EXPECT_EQ(counters["contributions"], kAgents * 2 * kValues / 1024);
  EXPECT_EQ(counters["drops"]["foreign"], 0);
  EXPECT_GT(counters["repeats"], 0);
}

TEST(Switchd, AKilledProcessRefusesUntilANewEpoch) {
  RunningSwitch program;
  program.write_settings(1);
  program.start();
  LossyAgents agents(program.address());
  agents.enter(1);
  agents.begin(0);
  agents.run(100);  // of 256 chunks
  ASSERT_FALSE(agents.ended());
  EXPECT_EQ(program.stop(SIGKILL), 128 + SIGKILL);
  program.start();  // with the same settings
  agents.run();
  agents.expect_all(BucketEnd::refused);
  program.wait_for_log("it was used before", 1);
  program.write_settings(2);
  program.send_signal(SIGHUP);
  program.wait_for_log("epoch installed", 2);
  agents.enter(2);
  agents.begin(1);
  agents.run();
  agents.expect_exact();
  EXPECT_EQ(program.stop(SIGTERM), 0);
  EXPECT_GE(program.last_counters()["drops"]["unknown_job"], kAgents);
}

}  // namespace
}  // namespace tributary::switchd
