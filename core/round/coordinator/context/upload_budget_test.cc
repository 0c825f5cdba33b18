// Tests of the division of the coordinator's memory for uploads: sizes of parts, windows, and
// whether agents are called.
#include "core/round/coordinator/context/upload_budget.h"

#include <gtest/gtest.h>

#include <vector>

namespace tributary {
namespace {

constexpr std::uint64_t kUploadMemory = 16u << 20;

CoordinatorConfig config_with(std::uint64_t incoming_bytes_max) {
  CoordinatorConfig config;
  config.incoming_bytes_max = incoming_bytes_max;
  return config;
}

TEST(UploadBudget, AgentsAreCalledWhereABucketOfAllOfThemDoesNotFit) {
  const std::uint64_t values = kUploadMemory / sizeof(float) / 4;
  EXPECT_FALSE(UploadBudget(config_with(kUploadMemory), 4, values).called());
  EXPECT_TRUE(UploadBudget(config_with(kUploadMemory), 4, values + 1).called());
  EXPECT_TRUE(UploadBudget(config_with(kUploadMemory), 5, values).called());
}

TEST(UploadBudget, ASingleAgentIsNeverCalled) {
  EXPECT_FALSE(UploadBudget(config_with(kUploadMemory), 1, kUploadMemory).called());
}

TEST(UploadBudget, AnAgentsShareOfTheMemoryHoldsFourParts) {
  EXPECT_EQ(UploadBudget(config_with(kUploadMemory), 16, 1).part_bytes(), kUploadMemory / 64);
}

TEST(UploadBudget, PartsAreNeitherLargerThanConfiguredNorSmallerThan16Kibibytes) {
  CoordinatorConfig config = config_with(kUploadMemory);
  config.payload_bytes_max = 1u << 20;
  EXPECT_EQ(UploadBudget(config, 1, 1).part_bytes(), 1u << 20);
  EXPECT_EQ(UploadBudget(config, 4'000, 1).part_bytes(), 16u << 10);
  config.payload_bytes_max = 2u << 10;
  EXPECT_EQ(UploadBudget(config, 4'000, 1).part_bytes(), 2u << 10);
}

TEST(UploadBudget, PartsAreNotLargerThanTheWireAllows) {
  CoordinatorConfig config = config_with(1u << 30);
  config.payload_bytes_max = 1u << 30;
  EXPECT_EQ(UploadBudget(config, 1, 1).part_bytes(), 4u << 20);
}

TEST(UploadBudget, AllWindowsTogetherTakeHalfOfTheMemory) {
  for (const std::size_t members : {1u, 3u, 16u, 100u}) {
    const UploadBudget budget(config_with(kUploadMemory), members, 1);
    EXPECT_GE(budget.window(), 1u);
    EXPECT_LE(members * budget.window() * budget.part_bytes(), kUploadMemory / 2) << members;
  }
}

TEST(UploadBudget, EveryAgentMayHaveAPartUnderWayAndNoneMoreThanConfigured) {
  EXPECT_EQ(UploadBudget(config_with(kUploadMemory), 4'000, 1).window(), 1u);
  CoordinatorConfig config = config_with(kUploadMemory);
  config.payload_bytes_max = 16u << 10;
  EXPECT_EQ(UploadBudget(config, 2, 1).window(), config.payloads_in_flight_max);
}

TEST(UploadBudget, AnAgentThatIsCalledHasTheWholeWindow) {
  const UploadBudget budget(config_with(kUploadMemory), 4'000, 1u << 20);
  ASSERT_TRUE(budget.called());
  EXPECT_EQ(budget.window(), CoordinatorConfig().payloads_in_flight_max);
}

TEST(UploadBudget, ManyConnectionsLeaveAQuarterOfTheMemoryForIncompletePayloads) {
  EXPECT_EQ(UploadBudget(config_with(kUploadMemory), 128, 1).incoming_bytes_max(), kUploadMemory);
  EXPECT_EQ(UploadBudget(config_with(kUploadMemory), 129, 1).incoming_bytes_max(),
            kUploadMemory / 4);
}

}  // namespace
}  // namespace tributary
