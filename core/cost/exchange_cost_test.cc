// Tests of the cost model of an exchange. Small cases are computed by hand.
#include "core/cost/exchange_cost.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/cost/replay_testing.h"

namespace tributary {
namespace {

using testing::DoubleNear;

constexpr std::array<StagePayload, 1> kDense = {
    {{.flow = StageFlow::reduced, .up_bytes = 1000, .down_bytes = 1000}}};

ExchangeWork dense(std::uint32_t agents, std::uint32_t buckets) {
  return {.agents = agents, .buckets = buckets, .stages = kDense};
}

double seconds(wire::Collective kind, const ExchangeWork& work, const ExchangeNetwork& network) {
  return predict_exchange(kind, work, network).seconds;
}

constexpr double kNear = 1e-9;

// Expected values were calculated by hand for a single bucket.
TEST(ExchangeCost, OneBucketAloneByHand) {
  const ExchangeNetwork network = network_of(0.005);
  const ExchangeWork one = dense(4, 1);
  // The coordinator's link carries four payloads in each direction, one after the other.
  EXPECT_THAT(seconds(wire::Collective::star, one, network), DoubleNear(0.010 + 0.008, kNear));
  EXPECT_THAT(seconds(wire::Collective::sharded_star, one, network),
              DoubleNear(0.010 + 0.006, kNear));
  EXPECT_THAT(seconds(wire::Collective::ring, one, network), DoubleNear(6 * 0.006, kNear));
  // Two levels up. On the way down, the root sends to two members at once, and then the larger
  // child to its own.
  EXPECT_THAT(seconds(wire::Collective::tree, one, network), DoubleNear(2 * 0.006 + 0.013, kNear));
  EXPECT_THAT(seconds(wire::Collective::all_gather, one, network), DoubleNear(0.008, kNear));
}

TEST(ExchangeCost, ManyBucketsAreBoundByThePorts) {
  const ExchangeNetwork network = network_of(0.0001);
  const ExchangeWork many = dense(4, 64);
  // 2 (n - 1) / n of the update: 96 payloads.
  EXPECT_THAT(seconds(wire::Collective::ring, many, network), DoubleNear(0.0961, kNear));
  EXPECT_NEAR(seconds(wire::Collective::sharded_star, many, network), 0.0966, 1e-4);
  EXPECT_NEAR(seconds(wire::Collective::halving_doubling, many, network), 0.0972, 1e-4);
  EXPECT_NEAR(seconds(wire::Collective::star, many, network), 0.2602, 1e-4);
  EXPECT_NEAR(seconds(wire::Collective::all_gather, many, network), 0.1921, 1e-4);
}

// If the coordinator's link is fast, the agents' own links determine the time.
TEST(ExchangeCost, FastHubLeavesTheAgentsLines) {
  const ExchangeNetwork network = network_of(0, kBeta / 100);
  EXPECT_THAT(seconds(wire::Collective::star, dense(4, 64), network), DoubleNear(0.065, kNear));
}

TEST(ExchangeCost, BytesOfTheBusiest) {
  const ExchangeNetwork network = network_of(0.001);
  const ExchangeCost ring = predict_exchange(wire::Collective::ring, dense(4, 8), network);
  EXPECT_EQ(ring.bytes_sent, 12'000);
  EXPECT_EQ(ring.bytes_received, 12'000);
  EXPECT_EQ(ring.hub_bytes_sent, 0);
  const ExchangeCost tree = predict_exchange(wire::Collective::tree, dense(4, 8), network);
  // The root sends to two; its larger child sends up and to one.
  EXPECT_EQ(tree.bytes_sent, 16'000);
  const ExchangeCost star = predict_exchange(wire::Collective::star, dense(4, 8), network);
  EXPECT_EQ(star.bytes_sent, 8'000);
  EXPECT_EQ(star.hub_bytes_received, 32'000);
}

// The number of buckets is no multiple of the number of owners.
TEST(ExchangeCost, OwnersThatDoNotComeOutEven) {
  // Nine buckets of four owners: member 0 owns three and receives nine payloads for them, plus the
  // results of the other six.
  const ExchangeCost direct =
      predict_exchange(wire::Collective::sharded_star, dense(4, 9), network_of(0));
  EXPECT_EQ(direct.bytes_received, 15'000);
}

TEST(ExchangeCost, OneAgentExchangesNothing) {
  for (const wire::Collective kind : kCollectives) {
    const double alone = seconds(kind, dense(1, 4), network_of(0.001));
    if (kind == wire::Collective::star) {
      EXPECT_GT(alone, 0);
    } else {
      EXPECT_EQ(alone, 0) << wire::EnumNameCollective(kind);
    }
  }
}

// Sixteen payloads, encoded in 10 ms each: while they are on their way, which takes 8 ms, the next
// ones are encoded. The path adds one bucket's encoding.
TEST(ExchangeCost, LatencyIsHiddenBehindEncoding) {
  const std::array<StagePayload, 1> stages = {
      {{.flow = StageFlow::gathered, .up_bytes = 1000, .down_bytes = 1000, .encode_s = 0.01}}};
  const ExchangeWork work = {.agents = 4, .buckets = 16, .stages = stages};
  EXPECT_THAT(seconds(wire::Collective::all_gather, work, network_of(0.005)),
              DoubleNear(0.17, kNear));
}

// CPU work overlaps with transfers, except for the path of one bucket.
TEST(ExchangeCost, ComputingIsHiddenUntilItIsTheBottleneck) {
  const ExchangeNetwork network = network_of(0.0001);
  ExchangeWork work = dense(4, 64);
  const double free = seconds(wire::Collective::ring, work, network);
  std::array<StagePayload, 1> stages = kDense;
  work.stages = stages;
  stages[0].encode_s = stages[0].aggregate_s = work.decode_s = 1e-5;
  // One bucket of 10 µs for each of encode, three sums and decode stays visible.
  EXPECT_THAT(seconds(wire::Collective::ring, work, network), DoubleNear(free + 5e-5, kNear));
  stages[0].encode_s = 1e-2;
  EXPECT_GT(seconds(wire::Collective::ring, work, network), 64 * 0.01);
}

// The coordinator's messages are those of a fast machine, however slow the agents are.
TEST(ExchangeCost, SlowAgentsSpendLongerOnTheirMessages) {
  ExchangeWork work = dense(2, 64);
  work.message_s = 0.005;
  const double alike = seconds(wire::Collective::star, work, network_of(0, 0));
  work.agent_slowdown = 10;
  const double slow = seconds(wire::Collective::star, work, network_of(0, 0));
  EXPECT_NEAR(alike, 64 * 2 * 2 * 0.005, 0.05);  // the coordinator, for two agents
  EXPECT_NEAR(slow, 64 * 2 * 0.05, 0.2);         // an agent
}

TEST(ExchangeCost, CoresThatAgentsShareTakeAsMuchLonger) {
  std::array<StagePayload, 1> stages = kDense;
  stages[0].encode_s = 0.01;
  ExchangeWork work = dense(4, 64);
  work.stages = stages;
  const ExchangeNetwork network = network_of(0);
  const double own = seconds(wire::Collective::ring, work, network);
  work.cores = 0.5;
  const double shared = seconds(wire::Collective::ring, work, network);
  EXPECT_THAT(shared, DoubleNear(2 * own, kNear));
  work.cores = 2;  // a single thread cannot use it
  EXPECT_EQ(seconds(wire::Collective::ring, work, network), own);
}

// Only one member encodes the indices, so shared cores do not slow it down.
TEST(ExchangeCost, ARootThatEncodesAloneHasACoreToItself) {
  std::array<StagePayload, 2> stages = {
      {{.flow = StageFlow::from_root, .up_bytes = 10, .encode_s = 0.01},
       {.flow = StageFlow::reduced, .up_bytes = 10, .down_bytes = 10}}};
  ExchangeWork work = {.agents = 4, .buckets = 64, .stages = stages, .cores = 0.5};
  // All agents together have less work than two cores can do; the root has 64 times 10 ms.
  EXPECT_NEAR(seconds(wire::Collective::ring, work, network_of(0)), 64 * 0.01, 0.03);
  stages[0].encode_s = 0;
  stages[1].encode_s = 0.01;
  EXPECT_NEAR(seconds(wire::Collective::ring, work, network_of(0)), 64 * 0.02, 0.03);
}

// Four agents, 64 buckets: from every member to every member, 12 payloads are sent and 12 received
// per bucket; in a tree, 6 and 6.
TEST(ExchangeCost, MessagesTakeTimeAtBothEnds) {
  ExchangeWork work = dense(4, 64);
  work.message_s = 0.1;
  const ExchangeNetwork network = network_of(0);
  EXPECT_NEAR(seconds(wire::Collective::all_gather, work, network), 64 * 0.6, 0.5);
  EXPECT_NEAR(seconds(wire::Collective::ring, work, network), 64 * 0.3, 1.5);
  work.cores = 0.5;
  EXPECT_NEAR(seconds(wire::Collective::all_gather, work, network), 64 * 1.2, 1);
}

// The cost per byte also counts at both ends of a transfer.
TEST(ExchangeCost, SoDoTheirBytes) {
  ExchangeWork work = dense(4, 64);
  const ExchangeNetwork network = network_of(0);
  const double each_bytes = work.stages[0].up_bytes;
  ASSERT_EQ(work.stages[0].down_bytes, each_bytes);
  ExchangeWork by_message = work;
  by_message.message_s = 0.1;
  work.byte_s = 0.1 / each_bytes;
  for (const wire::Collective kind : kCollectives) {
    EXPECT_DOUBLE_EQ(seconds(kind, work, network), seconds(kind, by_message, network))
        << wire::EnumNameCollective(kind);
  }
}

TEST(ExchangeCost, AGatheringMemberAddsThePayloadsOfAll) {
  std::array<StagePayload, 1> stages = kDense;
  stages[0].aggregate_s = 0.01;
  ExchangeWork work = dense(4, 64);
  work.stages = stages;
  const ExchangeNetwork network = network_of(0);
  EXPECT_GT(seconds(wire::Collective::all_gather, work, network), 64 * 0.03);
  EXPECT_LT(seconds(wire::Collective::ring, work, network), 64 * 0.012);
}

TEST(ExchangeCost, AGatheringMemberAddsEveryPayload) {
  StagePayload stage = {.up_bytes = 10, .down_bytes = 10};
  ExchangeWork work = {.agents = 4, .buckets = 64, .stages = {&stage, 1}, .decode_s = 0.01};
  const auto each_s = [&](wire::Collective kind) {
    return seconds(kind, work, network_of(0)) / 64;
  };
  // Payloads that could have been combined are decoded four times and added three times, over all
  // values.
  EXPECT_NEAR(each_s(wire::Collective::all_gather), 0.07, 0.002);
  EXPECT_NEAR(each_s(wire::Collective::ring), 0.01, 0.002);
  // Codecs that gather add while they decode, which may touch only the transmitted values. A
  // combiner does this once per payload.
  stage.flow = StageFlow::gathered;
  EXPECT_NEAR(each_s(wire::Collective::all_gather), 0.01, 0.002);
  stage.aggregate_s = 0.002;
  EXPECT_NEAR(each_s(wire::Collective::all_gather), 0.016, 0.002);
  EXPECT_NEAR(each_s(wire::Collective::ring), 0.016, 0.002);
}

// A higher latency, slower links or larger payloads always take longer; more buckets never take
// less time.
TEST(ExchangeCost, GrowsWithLatencyWithSlowerLinesAndWithMoreToSend) {
  for (const wire::Collective kind : kCollectives) {
    for (const std::uint32_t agents : {2u, 3u, 5u, 8u, 13u}) {
      for (const std::uint32_t buckets : {1u, 4u, 9u, 40u}) {
        SCOPED_TRACE(testing::Message()
                     << wire::EnumNameCollective(kind) << " " << agents << " " << buckets);
        const double base = seconds(kind, dense(agents, buckets), network_of(0.001));
        EXPECT_LT(base, seconds(kind, dense(agents, buckets), network_of(0.002)));
        ExchangeNetwork slower = network_of(0.001, 2 * kBeta);
        slower.agents.beta_s_per_byte *= 2;
        EXPECT_LT(base, seconds(kind, dense(agents, buckets), slower));
        EXPECT_LE(base, seconds(kind, dense(agents, 2 * buckets), network_of(0.001)));
        const StagePayload larger = {.up_bytes = 2000, .down_bytes = 2000};
        ExchangeWork more = dense(agents, buckets);
        more.stages = {&larger, 1};
        EXPECT_LT(base, seconds(kind, more, network_of(0.001)));
      }
    }
  }
}

// Norms go up and down by the star. Then 64 payloads of 1 ms go up while sums of 2 ms come down.
TEST(ExchangeCost, AnAggregatorInTheNetworkGetsEachPayloadOnce) {
  const std::array<StagePayload, 2> stages = {
      {{.flow = StageFlow::reduced, .up_bytes = 100, .down_bytes = 100},
       {.flow = StageFlow::reduced, .up_bytes = 1000, .down_bytes = 2000}}};
  ExchangeWork work = {.agents = 4, .buckets = 64, .stages = stages};
  const LinkEstimate link = {.alpha_s = 0.0001, .beta_s_per_byte = kBeta};
  ExchangeWork norms = work;
  norms.stages = work.stages.first(1);
  const double by_star_s = seconds(wire::Collective::star, norms, network_of(0.005));
  const ExchangeCost cost = predict_in_network(work, network_of(0.005), link);
  EXPECT_EQ(cost.kind, wire::Collective::in_network);
  EXPECT_THAT(cost.seconds, DoubleNear(by_star_s + 0.0002 + 0.128, kNear));
  EXPECT_EQ(cost.bytes_sent, 64 * 1100);
  EXPECT_EQ(cost.bytes_received, 64 * 2100);
  // A single thread encodes a bucket while the one before is on the way.
  work.decode_s = 0.01;
  EXPECT_THAT(predict_in_network(work, network_of(0.005), link).seconds,
              DoubleNear(by_star_s + 0.0002 + 65 * 0.01, kNear));
  work.agents = 1;
  EXPECT_EQ(predict_in_network(work, network_of(0.005), link).seconds, 0);
}

TEST(ExchangeCost, AMemberUploadsTheResultsOfItsBuckets) {
  EXPECT_EQ(settled_bytes(dense(4, 64)), 16'000);
  EXPECT_EQ(settled_bytes(dense(4, 5)), 2'000);
  EXPECT_EQ(settled_bytes(dense(4, 1)), 1'000);
  const std::array<StagePayload, 1> kept = {
      {{.flow = StageFlow::gathered, .up_bytes = 1000, .down_bytes = 1500}}};
  EXPECT_EQ(settled_bytes({.agents = 4, .buckets = 8, .stages = kept}), 2 * 4'000);
}

TEST(ExchangeCost, MembersShareTheUploadOfALargeResult) {
  EXPECT_EQ(upload_segments(8'191, 4), 1);
  EXPECT_EQ(upload_segments(8'192, 4), 2);
  EXPECT_EQ(upload_segments(1e9, 4), 4);
  const auto kept = [](double bytes) {
    return std::array<StagePayload, 1>{
        {{.flow = StageFlow::gathered, .up_bytes = bytes, .down_bytes = 1}}};
  };
  const auto of_four = kept(10'000);
  EXPECT_EQ(settled_bytes({.agents = 4, .buckets = 1, .stages = of_four}), 10'000);
  EXPECT_EQ(settled_bytes({.agents = 4, .buckets = 7, .stages = of_four}), 70'000);
  // Three segments: a member has three of every four, and one of each of the remaining buckets.
  const auto of_three = kept(3'072);
  EXPECT_EQ(settled_bytes({.agents = 4, .buckets = 6, .stages = of_three}), (3 + 2) * 4'096);
}

// Counted segment by segment, as upload_segments() assigns them.
TEST(ExchangeCost, EachMemberUploadsTheSegmentsThatAreItsOwn) {
  for (const std::uint32_t agents : {1u, 3u, 4u, 7u}) {
    for (const std::uint32_t buckets : {1u, 2u, 4u, 6u, 9u}) {
      for (const double bytes : {1'000.0, 3'072.0, 5'000.0, 1e6}) {
        const std::array<StagePayload, 1> kept = {
            {{.flow = StageFlow::gathered, .up_bytes = bytes, .down_bytes = 1}}};
        const ExchangeWork work = {.agents = agents, .buckets = buckets, .stages = kept};
        const auto segments = static_cast<std::uint32_t>(upload_segments(agents * bytes, agents));
        std::vector<double> uploaded(agents);
        for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
          for (std::uint32_t segment = 0; segment < segments; ++segment) {
            uploaded[(bucket + segment) % agents] += agents * bytes / segments;
          }
        }
        for (std::uint32_t member = 0; member < agents; ++member) {
          EXPECT_NEAR(settled_bytes(work, member), uploaded[member], 1e-6)
              << agents << " agents, " << buckets << " buckets, member " << member;
        }
        EXPECT_NEAR(settled_bytes(work), std::ranges::max(uploaded), 1e-6);
      }
    }
  }
}

TEST(ExchangeCost, UploadsOverlapUnlessTheyShareTheLink) {
  const ExchangeWork work = dense(4, 64);
  const double all_s = 16'000 * kBeta;
  EXPECT_THAT(with_upload_s(work, 0.1, kBeta, kBeta), DoubleNear(0.1 + all_s, kNear));
  for (const double exchange_s : {0.001, 0.016, 0.1}) {
    const double seconds = with_upload_s(work, exchange_s, kBeta, kBeta / 16);
    EXPECT_GT(seconds, std::max(exchange_s, all_s));
    EXPECT_LT(seconds, exchange_s + all_s);
  }
}

// Returns the costs, cheapest first. If several are equal, they keep the order of kCollectives.
std::vector<ExchangeCost> rank_exchanges(const ExchangeWork& work, const ExchangeNetwork& network) {
  std::vector<ExchangeCost> costs;
  for (const wire::Collective kind : kCollectives) {
    costs.push_back(predict_exchange(kind, work, network));
  }
  std::ranges::stable_sort(costs, {}, &ExchangeCost::seconds);
  return costs;
}

TEST(ExchangeCost, RankingIsInOrderAndFollowsTheNetwork) {
  const auto slow = rank_exchanges(dense(8, 8), network_of(0.05));
  ASSERT_EQ(slow.size(), std::size(kCollectives));
  for (std::size_t i = 1; i < slow.size(); ++i) EXPECT_LE(slow[i - 1].seconds, slow[i].seconds);
  EXPECT_EQ(slow.front().kind, wire::Collective::all_gather);  // one direction only
  EXPECT_EQ(slow.back().kind, wire::Collective::ring);
  const auto narrow = rank_exchanges(dense(8, 64), network_of(0));
  EXPECT_EQ(narrow.front().kind, wire::Collective::ring);
}

}  // namespace
}  // namespace tributary
