// Tests of the residual that a commit leaves. For a large model it is settled before the next model
// is made, with the same result.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "core/round/coordinator/attempt/active_round_testing.h"
#include "core/round/coordinator/commit/commit_writer.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::begin_round;
using round_testing::JobTest;
using round_testing::kSmallJob;
using round_testing::payload_of;
using round_testing::small_job;

constexpr std::uint64_t kResidualValues = 256;

// A job of one bucket whose sums are encoded again. Its residual is not 0 at the beginning.
class SettlingTest : public JobTest {
 protected:
  explicit SettlingTest(std::uint64_t large_results_bytes)
      : JobTest(small_job({{.name = "all", .shape = {kResidualValues}}})),
        writer_(job_, committed_, large_results_bytes) {
    policy().codec = "threelc";
    open_epoch(2);
    const auto model = std::make_shared<const FloatVector>(kResidualValues, 0.5f);
    RestoredJob state;
    state.checkpoint = {.job = kSmallJob,
                        .model_version = 0,
                        .model_hash = model_hash_of(*model),
                        .model = model,
                        .rule_state = nullptr};
    EXPECT_TRUE(writer_.restore(state).ok());
    const std::span<float> residual = writer_.aggregator_residual(*make_plan(1));
    for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = 0.125f * static_cast<float>(i);
  }

  bool write(float value) {
    const auto plan = make_plan(committed_.version() + 1);
    const auto round =
        begin_round(membership_, coordinator_.now, plan, writer_.aggregator_residual(*plan));
    BucketAggregation& sums = *round->buckets()[0];
    for (std::uint32_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(sums.add(i, payload_of(round->plan(), 0, i, value)).ok());
    }
    EXPECT_TRUE(sums.close(1).ok());
    return writer_.write(*round, membership_, reports_, [](const RoundRecord&) {});
  }
  void store() {
    coordinator_.store.pump(coordinator_.now, coordinator_.out);
    const Token token = actions<StoreCoordinator>().back().token;
    coordinator_.store.stored(coordinator_.now, {.token = token, .status = {}}, coordinator_.out);
  }
  const FloatVector& residual() const { return *committed_.aggregator_residual(); }

  CommittedModel committed_{1u << 20, 8};
  CommitWriter writer_;
  std::vector<AgentRoundRecord> reports_;
};

class LargeModelTest : public SettlingTest {
 protected:
  LargeModelTest() : SettlingTest(1) {}
};

// The same job, for which no model is large.
class SmallModel final : public SettlingTest {
 public:
  SmallModel() : SettlingTest(UINT64_MAX) {}
  void TestBody() override {}
  using SettlingTest::committed_;
  using SettlingTest::residual;
  using SettlingTest::store;
  using SettlingTest::write;
};

// Values of 1e25 might not be finite after the step, so the residual waits until it is made.
TEST_F(LargeModelTest, HasTheModelAndTheResidualOfASmallOne) {
  SmallModel small;
  for (const float value : {0.25f, 0.5f, 0.75f, 1e25f}) {
    const FloatVector before = residual();
    ASSERT_TRUE(write(value));
    ASSERT_TRUE(small.write(value));
    store();
    small.store();
    EXPECT_EQ(committed_.hash(), small.committed_.hash()) << value;
    EXPECT_EQ(residual(), small.residual()) << value;
    EXPECT_NE(residual(), before) << value;
  }
}

TEST_F(LargeModelTest, AModelThatIsNotFiniteLeavesTheResidual) {
  ASSERT_TRUE(write(0.25f));
  store();
  const FloatVector before = residual();
  CommittedModel::State state = committed_.state();
  state.values =
      std::make_shared<FloatVector>(kResidualValues, std::numeric_limits<float>::infinity());
  committed_.replace(std::move(state));
  EXPECT_FALSE(write(0.25f));
  EXPECT_EQ(residual(), before);
}

}  // namespace
}  // namespace tributary
