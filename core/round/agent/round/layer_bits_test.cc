// Tests of the bits by layer as facts of a round: layers that lie in several buckets, and more
// layers than a list of facts may have.
#include "core/round/agent/round/layer_bits.h"

#include <gtest/gtest.h>

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;

class SomeLayers : public testing::Test {
 protected:
  void SetUp() override {
    agent_.have_model();
    plan_ = agent_.round_plan(1);
  }
  // Layers of `count` values each, over both buckets of the plan.
  LayerMap layers_of(std::uint64_t count) {
    const std::uint64_t values = plan_->buckets()[1].first_value + plan_->buckets()[1].values;
    std::vector<LayerShape> shapes;
    for (std::uint64_t at = 0; at < values; at += count) {
      shapes.push_back({"layer" + std::to_string(at / count), {std::min(count, values - at)}});
    }
    return *LayerMap::make(std::move(shapes));
  }

  AgentParts agent_;
  std::shared_ptr<const RoundPlan> plan_;
};

TEST_F(SomeLayers, AreNothingWithoutADivision) {
  EXPECT_TRUE(millibits_by_layer(*plan_, layers_of(100), {}).empty());
}

TEST_F(SomeLayers, OneInSeveralBucketsHasOneMean) {
  const std::uint32_t first = plan_->buckets()[0].values;
  const LayerMap one = layers_of(1 << 30);
  EncodingFacts facts;
  facts.layer_bits[{0, 0}] = {.values = first, .bits = std::uint64_t{4} * first};
  facts.layer_bits[{1, 0}] = {.values = first, .bits = 0};
  const Tallies tallies = millibits_by_layer(*plan_, one, facts);
  ASSERT_EQ(tallies.size(), 1u);
  EXPECT_EQ(tallies[0]->of, "layer0");
  EXPECT_EQ(tallies[0]->count, 2000u);
}

TEST_F(SomeLayers, ManyAreJoinedWithTheirNeighbours) {
  const std::uint32_t first = plan_->buckets()[0].values;
  ASSERT_GT(2 * first, 100u);
  const LayerMap layers = layers_of(1);
  EncodingFacts facts;
  for (std::uint32_t i = 0; i < 100; ++i) {
    facts.layer_bits[{i / first, i % first}] = {.values = 1, .bits = i % 2};
  }
  const Tallies tallies = millibits_by_layer(*plan_, layers, facts);
  ASSERT_EQ(tallies.size(), 50u);
  EXPECT_EQ(tallies[0]->of, "layer0 to layer1");
  EXPECT_EQ(tallies[49]->of, "layer98 to layer99");
  EXPECT_EQ(tallies[0]->count, 500u);
  facts.layer_bits.clear();
  facts.layer_bits[{7, 0}] = {.values = 1, .bits = 1};
  EXPECT_TRUE(millibits_by_layer(*plan_, layers, facts).empty()) << "the plan has no such bucket";
}

}  // namespace
}  // namespace tributary
