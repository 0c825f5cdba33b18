// Tests of measuring the payloads of a codec. Measured sizes must agree with the calculated ones.
#include "core/cost/measured_stages.h"

#include <gtest/gtest.h>

#include "core/codec/registry.h"
#include "core/cost/stage_sizes.h"

namespace tributary {
namespace {

constexpr std::uint32_t kValues = 100'000;

MeasuredStages measured(std::string_view spec, std::uint32_t agents = 4) {
  const auto codec = make_codec(spec);
  EXPECT_TRUE(codec.ok());
  const SystemClock clock;
  auto stages = measure_stages(**codec, agents, kValues, clock);
  EXPECT_TRUE(stages.ok()) << stages.status().text();
  return stages.ok() ? *std::move(stages) : MeasuredStages{};
}

void expect_near(const std::vector<StagePayload>& measured,
                 const std::vector<StagePayload>& stated) {
  ASSERT_EQ(measured.size(), stated.size());
  for (std::size_t i = 0; i < stated.size(); ++i) {
    EXPECT_EQ(measured[i].flow, stated[i].flow);
    EXPECT_NEAR(measured[i].up_bytes, stated[i].up_bytes, 0.1 * stated[i].up_bytes + 150);
  }
}

// Measured sizes agree with the formulas.
TEST(MeasuredStages, HaveTheStatedBytes) {
  expect_near(measured("fp32").stages, dense_stages(kValues));
  expect_near(measured("topk:cr=0.01").stages, top_k_stages(kValues, 0.01, 4));
  expect_near(measured("star_topk:cr=0.01").stages, ar_top_k_stages(kValues, 0.01));
}

// The indices come from one agent, so its whole payload counts and not a fourth of it.
TEST(MeasuredStages, ARootsPayloadIsThatOfOneAgent) {
  const double of_two = measured("star_topk:cr=0.1", 2).stages[0].up_bytes;
  const double of_eight = measured("star_topk:cr=0.1", 8).stages[0].up_bytes;
  EXPECT_NEAR(of_two, of_eight, 0.1 * of_two);
}

TEST(MeasuredStages, TakeTime) {
  const MeasuredStages all = measured("star_topk:cr=0.1");
  EXPECT_GT(all.stages[0].encode_s, 0);
  EXPECT_GT(all.stages[1].encode_s, 0);
  EXPECT_GT(all.stages[1].aggregate_s, 0);
  EXPECT_GT(all.decode_s, 0);
}

TEST(MeasuredStages, ManyAgentsAreMeasuredAsSome) {
  EXPECT_EQ(measured("topk:cr=0.01", 1000).stages[0].down_bytes,
            measured("topk:cr=0.01", kMeasuredAgentsMax).stages[0].down_bytes);
}

}  // namespace
}  // namespace tributary
