// Processes are killed at random moments with each durability of the journals. Nothing is lost: a
// kill loses only what a process has not written yet, and that is derived again.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <tuple>

#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

// The durability and the number of kills.
class KillAtRandomMoments : public testing::TestWithParam<std::tuple<const char*, std::uint32_t>> {
};

TEST_P(KillAtRandomMoments, LosesNoUpdate) {
  const auto& [durability, kills] = GetParam();
  const std::string setting = std::string("journal.durability=") + durability;
  std::mt19937 random(kills);  // real time decides, so the seed does not make the test reproducible
  // A model of 80 kB, which is stored beside the database.
  Federation federation({.rounds = 10 * (kills + 1),
                         .parameters = 20'000,
                         .coordinator_settings = {setting},
                         .agent_settings = {setting, "trainer.train_ms=5"}});
  federation.start_all();
  for (std::uint32_t kill = 0; kill < kills; ++kill) {
    // Waits for a random time.
    EXPECT_FALSE(eventually([] { return false; }, std::chrono::microseconds(random() % 200'000)));
    ASSERT_TRUE(federation.coordinator().running()) << "the job is too short: kill " << kill;
    if (const auto process = static_cast<std::uint32_t>(random() % 4); process < 3) {
      federation.kill_agent(process);
      federation.start_agent(process);
    } else {
      federation.coordinator().kill();
      federation.start_coordinator();
    }
  }
  federation.expect_all_end();
  federation.expect_sound();
}

std::string case_name(const testing::TestParamInfo<KillAtRandomMoments::ParamType>& info) {
  return std::get<0>(info.param);
}

INSTANTIATE_TEST_SUITE_P(FewKills, KillAtRandomMoments,
                         testing::Combine(testing::Values("round", "30s", "stop"),
                                          testing::Values(4u)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(TwentyKills, KillAtRandomMoments,
                         testing::Combine(testing::Values("round", "30s", "stop"),
                                          testing::Values(20u)),
                         case_name);

}  // namespace
}  // namespace tributary::end_to_end
