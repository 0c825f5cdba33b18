// Compares the cost model of an exchange with a replay that sends every message in order.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cost/exchange_cost.h"
#include "core/cost/replay_testing.h"

namespace tributary {
namespace {

struct Bounds {
  double mean;
  double worst;
  double bytes = 1e-9;
};

using Stages = std::vector<StagePayload>;

struct Deviation {
  std::vector<double> all;
  double worst = 0;
  std::string where;
};

void compare(wire::Collective kind, const ExchangeWork& work, const ExchangeNetwork& network,
             double bytes_off_max, Deviation& deviation) {
  const Replay replay(kind, work, network);
  ASSERT_TRUE(replay.whole());
  const ExchangeCost cost = predict_exchange(kind, work, network);
  EXPECT_NEAR(cost.bytes_sent / replay.bytes_sent_max(), 1, bytes_off_max);
  if (kind == wire::Collective::star) {
    EXPECT_NEAR(cost.hub_bytes_sent / replay.hub_bytes_sent(), 1, 1e-9);
  }
  const double off = std::abs(cost.seconds / replay.seconds() - 1);
  deviation.all.push_back(off);
  if (off > deviation.worst) {
    deviation.worst = off;
    deviation.where = testing::PrintToString(work.agents) + " agents, " +
                      testing::PrintToString(work.buckets) + " buckets, alpha " +
                      testing::PrintToString(network.agents.alpha_s) + ", predicted " +
                      testing::PrintToString(cost.seconds) + ", replayed " +
                      testing::PrintToString(replay.seconds());
  }
}

void hold(wire::Collective kind, const Stages& stages, const Bounds& bounds) {
  Deviation deviation;
  for (const std::uint32_t agents : {2u, 3u, 4u, 5u, 8u, 12u}) {
    for (const std::uint32_t buckets : {1u, 2u, 8u, 13u, 32u}) {
      for (const double alpha_s : {0.0, 1e-5, 1e-4, 5e-4, 2e-3, 1e-2}) {
        const ExchangeWork work = {.agents = agents, .buckets = buckets, .stages = stages};
        ASSERT_NO_FATAL_FAILURE(
            compare(kind, work, network_of(alpha_s, kBeta / 3), bounds.bytes, deviation))
            << agents << " agents, " << buckets << " buckets";
      }
    }
  }
  const double mean = std::accumulate(deviation.all.begin(), deviation.all.end(), 0.0) /
                      static_cast<double>(deviation.all.size());
  EXPECT_LT(mean, bounds.mean);
  EXPECT_LT(deviation.worst, bounds.worst) << deviation.where;
}

class Against : public testing::TestWithParam<std::tuple<wire::Collective, Bounds>> {};

TEST_P(Against, ReplayOfSums) {
  const auto [kind, bounds] = GetParam();
  for (const auto& [up, down] : {std::pair{1000.0, 1000.0}, {1000.0, 500.0}, {500.0, 1000.0}}) {
    SCOPED_TRACE(testing::Message() << up << " up, " << down << " down");
    hold(kind, {{.flow = StageFlow::reduced, .up_bytes = up, .down_bytes = down}}, bounds);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Exchanges, Against,
    testing::Values(std::tuple{wire::Collective::star, Bounds{0.03, 0.1}},
                    std::tuple{wire::Collective::sharded_star, Bounds{0.02, 0.1}},
                    std::tuple{wire::Collective::ring, Bounds{0.01, 0.1}},
                    std::tuple{wire::Collective::tree, Bounds{0.05, 0.25}},
                    std::tuple{wire::Collective::halving_doubling, Bounds{0.05, 0.3}},
                    std::tuple{wire::Collective::all_gather, Bounds{0.02, 0.1}}),
    [](const auto& one) { return wire::EnumNameCollective(std::get<0>(one.param)); });

// AR-Topk: indices from one agent, then a sum of the values at those indices. With fewer buckets
// than agents, the agent that sends the indices need not be the busiest one, and a sum that starts
// at it is in progress before the others have the indices.
TEST_P(Against, ReplayOfIndicesAndThenSums) {
  const wire::Collective kind = std::get<0>(GetParam());
  hold(kind,
       {{.flow = StageFlow::from_root, .up_bytes = 250},
        {.flow = StageFlow::reduced, .up_bytes = 1000, .down_bytes = 1000}},
       {.mean = 0.1, .worst = 0.45, .bytes = 0.1});
}

// If every owner has a few buckets, the idle time of a ring after the indices is known exactly.
TEST(ExchangeReplay, ARingThatWaitsForPlaces) {
  for (const double places_bytes : {100.0, 1000.0, 3000.0}) {
    const Stages stages = {{.flow = StageFlow::from_root, .up_bytes = places_bytes},
                           {.flow = StageFlow::reduced, .up_bytes = 1000, .down_bytes = 1000}};
    for (const std::uint32_t agents : {3u, 4u, 7u, 12u}) {
      for (const std::uint32_t more : {0u, 1u, agents - 1}) {
        const ExchangeWork work = {
            .agents = agents, .buckets = 4 * agents + more, .stages = stages};
        const ExchangeNetwork network = network_of(1e-5);
        EXPECT_NEAR(predict_exchange(wire::Collective::ring, work, network).seconds,
                    Replay(wire::Collective::ring, work, network).seconds(), 1e-6)
            << agents << " agents, " << work.buckets << " buckets, " << places_bytes;
      }
    }
  }
}

// Each hop takes a frame's time longer, which a chain has most of. Frames of a quarter of a
// payload.
TEST_P(Against, ReplayOfFramesThatAreForwardedWhole) {
  const wire::Collective kind = std::get<0>(GetParam());
  const Stages stages = {{.flow = StageFlow::from_root, .up_bytes = 250},
                         {.flow = StageFlow::reduced, .up_bytes = 1000, .down_bytes = 1000}};
  Deviation deviation;
  for (const std::uint32_t agents : {3u, 4u, 8u}) {
    for (const std::uint32_t more : {0u, 1u, 2u}) {
      const ExchangeWork work = {.agents = agents, .buckets = 4 * agents + more, .stages = stages};
      ExchangeNetwork network = network_of(1e-4);
      network.frame_bytes = 250;
      ASSERT_NO_FATAL_FAILURE(compare(kind, work, network, 0.1, deviation));
    }
  }
  const bool even = kind == wire::Collective::ring || kind == wire::Collective::all_gather;
  const double worst = kind == wire::Collective::tree ? 0.2 : 0.1;
  EXPECT_LT(deviation.worst, even ? 0.02 : worst) << deviation.where;
}

// The last bucket's indices leave their root after those of all others, which is visible if latency
// is long.
TEST_P(Against, ReplayOfIndicesOverALongWay) {
  const wire::Collective kind = std::get<0>(GetParam());
  const Stages stages = {{.flow = StageFlow::from_root, .up_bytes = 400},
                         {.flow = StageFlow::reduced, .up_bytes = 1000, .down_bytes = 1000}};
  Deviation deviation;
  for (const std::uint32_t buckets : {8u, 16u, 32u}) {
    ASSERT_NO_FATAL_FAILURE(compare(kind, {.agents = 4, .buckets = buckets, .stages = stages},
                                    network_of(0.05), 0.1, deviation));
  }
  const bool one_root = kind == wire::Collective::star || kind == wire::Collective::tree;
  EXPECT_LT(deviation.worst, one_root ? 0.15 : 0.06) << deviation.where;
}

TEST_P(Against, ReplayOfAnUncombinedExchange) {
  const wire::Collective kind = std::get<0>(GetParam());
  hold(kind, {{.flow = StageFlow::gathered, .up_bytes = 1000, .down_bytes = 3000}},
       {.mean = 0.02, .worst = 0.2});
}

TEST_P(Against, ReplayOfABroadcast) {
  const wire::Collective kind = std::get<0>(GetParam());
  hold(kind, {{.flow = StageFlow::from_root, .up_bytes = 1000}}, {.mean = 0.02, .worst = 0.1});
}

}  // namespace
}  // namespace tributary
