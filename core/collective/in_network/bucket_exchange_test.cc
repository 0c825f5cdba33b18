// Whole exchanges over a network of bytes in memory that loses, repeats, delays and reorders.
#include "core/collective/in_network/bucket_exchange.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "core/base/random.h"
#include "core/collective/in_network/slot_rules.h"

namespace tributary::in_network {
namespace {

constexpr std::int64_t kDelayNs = 100'000;

struct Setting {
  std::uint32_t agents = 3;
  std::uint32_t granularity = 30;
  std::size_t values = 64 * 1024 + 64;
  std::uint32_t slots = 16;
  std::uint32_t lost_permille = 0;
  std::uint32_t repeated_permille = 0;
  std::uint32_t reordered_permille = 0;
  std::uint32_t seed = 1;
  std::uint32_t window = 4;    // at the start
  bool dead_group = false;     // results to all agents are lost
  std::int64_t packet_ns = 0;  // that an agent's link needs for a packet, in each direction
  std::uint32_t packet_values = 0;
};

class Network {
 public:
  explicit Network(const Setting& setting)
      : setting_(setting), rules_(std::make_unique<SlotRules>(*SlotRules::make(256))) {
    for (std::size_t i = 0; i < 16; ++i) {
      job_.places[i] = static_cast<std::uint16_t>(i * setting.granularity / 15);
    }
    job_.handle = 3;
    job_.agents = setting.agents;
    job_.granularity = setting.granularity;
    job_.table = 5;
    job_.slots = setting.slots;
    job_.packet_values = setting.packet_values;
    for (std::uint32_t a = 0; a < setting.agents; ++a) {
      agents_.emplace_back(BucketJob{.handle = 3,
                                     .agent = static_cast<std::uint8_t>(a),
                                     .agents = static_cast<std::uint8_t>(setting.agents),
                                     .table = 5,
                                     .wide = job_.wide(),
                                     .packet_values = setting.packet_values},
                           SlotClientOptions{.slots = setting.slots, .window = setting.window});
      levels_.emplace_back(setting.values / 2);
      sums_.emplace_back(setting.values * (job_.wide() ? 2 : 1));
    }
  }

  void install(std::uint32_t epoch) {
    job_.epoch = epoch;
    ASSERT_TRUE(rules_->install(job_).ok());
    for (BucketExchange& agent : agents_) agent.enter(epoch);
  }
  void restart() { rules_ = std::make_unique<SlotRules>(*SlotRules::make(256)); }

  void begin(std::uint32_t bucket) {
    for (std::uint32_t a = 0; a < agents_.size(); ++a) {
      for (std::uint32_t i = 0; i < levels_[a].size(); ++i) {
        levels_[a][i] = static_cast<std::uint8_t>(random_bits({bucket, a}, i));
      }
      ASSERT_TRUE(agents_[a].begin(levels_[a], sums_[a], now_ns_ + 10'000'000'000).ok());
    }
  }
  // Runs until all agents have ended, or until the time.
  void run(std::int64_t until_ns = kNoTime) {
    while (now_ns_ < until_ns && !ended()) {
      for (std::uint32_t a = 0; a < agents_.size(); ++a) {
        while (const auto packet = agents_[a].next_packet(now_ns_)) {
          Bytes bytes(packet->header.begin(), packet->header.end());
          bytes.insert(bytes.end(), packet->body.begin(), packet->body.end());
          ++sent;
          carry(bytes, a + 1, kAggregator);
        }
      }
      std::int64_t next = under_way_.empty() ? kNoTime : under_way_.begin()->first;
      for (const BucketExchange& agent : agents_) next = std::min(next, agent.next_time_ns());
      ASSERT_NE(next, kNoTime);
      now_ns_ = std::max(now_ns_, next);
      while (!under_way_.empty() && under_way_.begin()->first <= now_ns_) {
        const Letter letter = std::move(under_way_.begin()->second);
        under_way_.erase(under_way_.begin());
        arrive(letter);
      }
      for (BucketExchange& agent : agents_) agent.on_time(now_ns_);
    }
  }
  bool ended() const {
    for (const BucketExchange& agent : agents_) {
      if (agent.end() == BucketEnd::running) return false;
    }
    return true;
  }
  void expect_all(BucketEnd end) const {
    for (const BucketExchange& agent : agents_) EXPECT_EQ(agent.end(), end);
  }
  void expect_exact() const {
    expect_all(BucketEnd::complete);
    for (std::size_t i = 0; i < setting_.values; ++i) {
      unsigned sum = 0;
      for (const Bytes& levels : levels_) sum += job_.places[levels[i / 2] >> (i % 2 * 4) & 15];
      for (const Bytes& sums : sums_) {
        const unsigned low = job_.wide() ? sums[2 * i] : sums[i];
        const unsigned got = job_.wide() ? low + 256u * sums[2 * i + 1] : low;
        ASSERT_EQ(got, sum) << i;
      }
    }
  }
  std::int64_t now_ns() const { return now_ns_; }
  const SlotRules& rules() const { return *rules_; }
  const BucketExchange& agent(std::size_t a) const { return agents_[a]; }

  std::uint64_t sent = 0;

 private:
  static constexpr std::uint32_t kAggregator = 0;
  struct Letter {
    Bytes bytes;
    PacketSource from;
    std::uint32_t to;
  };

  bool happens(std::uint32_t permille) {
    return random_bits({setting_.seed, 77}, draws_++) % 1000 < permille;
  }
  void carry(const Bytes& bytes, PacketSource from, std::uint32_t to) {
    const int copies =
        (happens(setting_.lost_permille) ? 0 : 1) + (happens(setting_.repeated_permille) ? 1 : 0);
    for (int copy = 0; copy < copies; ++copy) {
      // An agent's link in one direction; a lost packet takes no time.
      std::int64_t& free_ns = to == kAggregator ? up_free_ns_[from] : down_free_ns_[to];
      free_ns = std::max(free_ns, now_ns_) + setting_.packet_ns;
      std::int64_t delay = free_ns - now_ns_ + kDelayNs;
      if (happens(setting_.reordered_permille)) delay += kDelayNs * (draws_ % 40);
      under_way_.emplace(now_ns_ + delay, Letter{bytes, from, to});
    }
  }
  void arrive(const Letter& letter) {
    if (letter.to != kAggregator) {
      agents_[letter.to - 1].receive(letter.bytes, now_ns_);
      return;
    }
    Bytes reply(kPacketBytesMax);
    const SlotReply answer = rules_->handle(letter.bytes, letter.from, reply);
    reply.resize(answer.bytes);
    if (answer.to == ReplyTo::sender) {
      carry(reply, kAggregator, static_cast<std::uint32_t>(letter.from));
    } else if (answer.to == ReplyTo::all_agents && !setting_.dead_group) {
      for (const PacketSource source : rules_->sources(answer.job)) {
        carry(reply, kAggregator, static_cast<std::uint32_t>(source));
      }
    }
  }

  const Setting setting_;
  SlotJob job_;
  std::unique_ptr<SlotRules> rules_;
  std::deque<BucketExchange> agents_;
  std::vector<Bytes> levels_;
  std::vector<Bytes> sums_;
  std::multimap<std::int64_t, Letter> under_way_;
  std::map<PacketSource, std::int64_t> up_free_ns_;
  std::map<PacketSource, std::int64_t> down_free_ns_;
  std::int64_t now_ns_ = 1;
  std::uint32_t draws_ = 0;
};

TEST(BucketExchange, AGoodNetworkNeedsNoRepeat) {
  Network network({});
  network.install(1);
  for (std::uint32_t bucket = 0; bucket < 3; ++bucket) {
    network.begin(bucket);
    network.run();
    network.expect_exact();
  }
  EXPECT_EQ(network.sent, 3u * 3 * 65);
  EXPECT_EQ(network.rules().counters().dropped(), 0u);
  EXPECT_EQ(network.agent(0).client().repeats(), 0u);
}

// The last packet of a bucket is shorter.
TEST(BucketExchange, AnAggregatorMayTakeFewValuesInAPacket) {
  for (const std::uint32_t granularity : {30u, 900u}) {
    for (const std::uint32_t values : {64u, 192u, 448u}) {
      Network network({.granularity = granularity, .values = 5'056, .packet_values = values});
      network.install(1);
      network.begin(0);
      network.run();
      network.expect_exact();
      EXPECT_EQ(network.sent, 3 * ((5'056 + values - 1) / values));
      EXPECT_EQ(network.rules().counters().dropped(), 0u);
    }
  }
}

// With sums of 16 bits no packet has more than 512 values.
TEST(BucketExchange, MoreValuesThanFitAreNotSent) {
  Network network({.granularity = 900, .values = 5'120, .packet_values = 1024});
  network.install(1);
  network.begin(0);
  network.run();
  network.expect_exact();
  EXPECT_EQ(network.sent, 3u * 10);
}

TEST(BucketExchange, SumsAreExactOverABadNetwork) {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    Network network({.agents = seed % 2 == 0 ? 3u : 12u,
                     .values = 8 * 1024 + 64 * seed,
                     .slots = 1 + seed,
                     .lost_permille = 100,
                     .repeated_permille = 100,
                     .reordered_permille = 200,
                     .seed = seed});
    network.install(1);
    for (std::uint32_t bucket = 0; bucket < 3; ++bucket) {
      network.begin(bucket);
      network.run();
      network.expect_exact();
    }
    EXPECT_GT(network.agent(0).client().repeats(), 0u);
  }
}

// Virtual nanoseconds of four agents with links of 1 Gbit/s and a round trip of 0.2 ms.
double time_of(std::uint32_t lost_permille, std::uint32_t window) {
  Network network({.agents = 4,
                   .values = 1024 * 1500,
                   .slots = 256,
                   .lost_permille = lost_permille,
                   .window = window,
                   .packet_ns = 8'600});
  network.install(1);
  network.begin(0);
  network.run();
  network.expect_exact();
  return static_cast<double>(network.now_ns());
}

TEST(BucketExchange, ALossOfOnePercentCostsLessThanATenth) {
  EXPECT_LT(time_of(10, 64), 1.1 * time_of(0, 64));
}

// In a window of a few chunks, two losses are chance. It grows in spite of them.
TEST(BucketExchange, ALossOfOnePercentDoesNotHoldASmallWindowDown) {
  EXPECT_LT(time_of(10, 4), 1.2 * time_of(0, 4));
}

// The multicast group is not forwarded. The answers to repeats come by unicast, so each chunk needs
// two packets of each agent.
TEST(BucketExchange, WithoutMulticastResultsComeByUnicast) {
  Network network({.agents = 4,
                   .values = 1024 * 600,
                   .slots = 64,
                   .window = 32,
                   .dead_group = true,
                   .packet_ns = 8'600});
  network.install(1);
  network.begin(0);
  network.run();
  network.expect_exact();
  EXPECT_LT(network.sent, 3u * 4 * 600);
  EXPECT_GE(network.agent(0).client().window(), 8u);
  EXPECT_LT(network.now_ns(), 200'000'000);
  EXPECT_EQ(network.rules().counters().resent, network.agent(0).client().repeats() * 4);
}

TEST(BucketExchange, TheWindowHalvesWithALossAndGrowsAgain) {
  Network good({});
  good.install(1);
  good.begin(0);
  good.run();
  EXPECT_GT(good.agent(0).client().window(), 4u);
  Network bad({.slots = 64, .lost_permille = 300, .window = 16});
  bad.install(1);
  bad.begin(0);
  bad.run(good.now_ns() + 1000'000'000);
  EXPECT_LT(bad.agent(0).client().window(), 16u);
}

TEST(BucketExchange, ARestartedAggregatorRefusesUntilANewEpoch) {
  Network network({.lost_permille = 10});
  network.install(1);
  network.begin(0);
  network.run(5 * kDelayNs);
  ASSERT_FALSE(network.ended());
  network.restart();
  network.run();
  network.expect_all(BucketEnd::refused);
  EXPECT_EQ(network.agent(0).client().refused_for(), DropReason::unknown_job);
  network.install(2);
  network.begin(1);
  network.run();
  network.expect_exact();
}

TEST(BucketExchange, ADeadAggregatorEndsByTheDeadline) {
  Network network({.lost_permille = 1000});
  network.install(1);
  network.begin(0);
  network.run();
  network.expect_all(BucketEnd::deadline);
  // Time-outs double, so ten seconds cost few repeats.
  EXPECT_LT(network.sent, 3u * 200);
}

TEST(BucketExchange, DatagramsThatDoNotFitAreIgnored) {
  BucketExchange exchange({.handle = 3, .agent = 0, .agents = 2, .table = 5}, {});
  exchange.enter(1);
  Bytes levels(32);
  Bytes sums(64);
  ASSERT_TRUE(exchange.begin(levels, sums, kNoTime).ok());
  ASSERT_TRUE(exchange.next_packet(1).has_value());
  PacketHeader header = {.type = PacketType::result,
                         .agent = 1,
                         .agents = 2,
                         .job = 3,
                         .epoch = 1,
                         .count = 64,
                         .table = 5};
  const auto receive = [&](std::uint64_t contributors) {
    Bytes bytes(kHeaderBytes + kContributorsBytes + header.count, 9);
    write_header(header, bytes.data());
    write_contributors(contributors, bytes.data() + kHeaderBytes);
    return exchange.receive(bytes, 2);
  };
  EXPECT_EQ(receive(1), DropReason::wrong_agent);  // not all
  header.epoch = 2;
  EXPECT_EQ(receive(3), DropReason::replayed);
  header.epoch = 1;
  header.table = 6;
  EXPECT_EQ(receive(3), DropReason::wrong_table);
  header.table = 5;
  header.count = 128;
  EXPECT_EQ(receive(3), DropReason::wrong_count);
  header.count = 64;
  header.type = PacketType::contribution;
  EXPECT_EQ(receive(3), DropReason::too_long);  // a result's bytes
  header.type = PacketType::result;
  EXPECT_EQ(std::accumulate(exchange.ignored().begin(), exchange.ignored().end(), 0u), 5u);
  EXPECT_EQ(exchange.end(), BucketEnd::running);
  EXPECT_EQ(receive(3), DropReason::none);
  EXPECT_EQ(exchange.end(), BucketEnd::complete);
  EXPECT_EQ(sums[63], 9);
  EXPECT_FALSE(exchange.begin(Bytes(31), sums, kNoTime).ok());
}

}  // namespace
}  // namespace tributary::in_network
