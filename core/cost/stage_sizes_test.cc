// Tests of the calculated sizes of payloads, compared with those of the codecs.
#include "core/cost/stage_sizes.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

// docs/codecs/sparse.md states the measured size of the codec's indices.
TEST(StageSizes, GapsHaveTheSizeOfTheCodec) {
  EXPECT_NEAR(gap_bytes(1000, 0.01) * 8 / 1000, 8.2, 0.15);
  EXPECT_NEAR(gap_bytes(1000, 0.1) * 8 / 1000, 4.8, 0.15);
  EXPECT_EQ(gap_bytes(1000, 1), 0);
}

TEST(StageSizes, DenseIsFloat32BothWays) {
  const auto stages = dense_stages(1 << 20);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].flow, StageFlow::reduced);
  EXPECT_NEAR(stages[0].up_bytes, 4 << 20, 100);
  EXPECT_EQ(stages[0].up_bytes, stages[0].down_bytes);
}

// The table of docs/codecs/sparse.md: 0.402 bits up with values and gaps.
TEST(StageSizes, TopKHasTheSizeOfTheCodec) {
  constexpr double kStageValues = 1 << 20;
  const auto stages = top_k_stages(kStageValues, 0.01, 4);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_NEAR(stages[0].up_bytes * 8 / kStageValues, 0.402, 0.003);
  EXPECT_GT(stages[0].down_bytes, stages[0].up_bytes);
  EXPECT_LT(stages[0].down_bytes, 4 * stages[0].up_bytes);
  EXPECT_NEAR(top_k_stages(kStageValues, 0.1, 4)[0].up_bytes * 8 / kStageValues, 3.677, 0.02);
}

TEST(StageSizes, ArTopKSendsIndicesOfOneAndValuesOfAll) {
  constexpr double kStageValues = 1 << 20;
  const auto stages = ar_top_k_stages(kStageValues, 0.01);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].flow, StageFlow::from_root);
  EXPECT_NEAR(stages[0].up_bytes * 8 / kStageValues, 0.082, 0.002);
  EXPECT_EQ(stages[1].flow, StageFlow::reduced);
  EXPECT_NEAR(stages[1].up_bytes * 8 / kStageValues, 0.32, 0.001);
}

TEST(StageSizes, NeverMoreThanTheBucketAndNeverNothing) {
  EXPECT_LT(top_k_stages(1000, 1, 8)[0].down_bytes, 4100);
  EXPECT_GT(ar_top_k_stages(1000, 1e-9)[1].up_bytes, 4);
}

}  // namespace
}  // namespace tributary
