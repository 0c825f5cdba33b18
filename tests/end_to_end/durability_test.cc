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

// The durability and the codec.
using KillCase = std::tuple<const char*, const char*>;

// Kills random processes of a job. The rounds are more than enough for all kills.
void run_with_kills(std::uint32_t kills, const KillCase& kill_case, std::uint32_t seed) {
  const auto& [durability, codec] = kill_case;
  const std::string setting = std::string("journal.durability=") + durability;
  std::mt19937 random(seed);  // real time decides, so the seed does not make the test reproducible
  // A model of 80 kB, which is stored beside the database.
  Federation federation({.rounds = 10 * (kills + 1),
                         .parameters = 20'000,
                         .codec = codec,
                         .coordinator_settings = {setting},
                         .agent_settings = {setting, "trainer.train_ms=5"}});
  federation.start_all();
  for (std::uint32_t kill = 0; kill < kills; ++kill) {
    // Waits for a random time.
    EXPECT_FALSE(eventually([] { return false; }, std::chrono::microseconds(random() % 200'000)));
    ASSERT_TRUE(federation.coordinator().running()) << "the job is too short: kill " << kill;
    if (const auto process = static_cast<std::uint32_t>(random() % 4); process < 3) {
      // Half of these kills come while a contribution is undecided, which may count or not.
      Process& agent = federation.agent(process);
      if (random() % 2 == 0) {
        ASSERT_TRUE(agent.logs({"contribution stored"},
                               agent.lines_with({"contribution stored"}).size() + 1));
        EXPECT_FALSE(
            eventually([] { return false; }, std::chrono::microseconds(random() % 10'000)));
      }
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

std::string case_name(const testing::TestParamInfo<KillCase>& info) {
  const std::string codec = std::get<1>(info.param);
  return std::string(std::get<0>(info.param)) + "_" + codec.substr(0, codec.find(':'));
}

// With a lossless codec the model itself can be computed.
class KillAtRandomMoments : public testing::TestWithParam<KillCase> {};

TEST_P(KillAtRandomMoments, LosesNoUpdate) { run_with_kills(4, GetParam(), 4); }

TEST_P(KillAtRandomMoments, LosesNoUpdateInTwentyKills) { run_with_kills(20, GetParam(), 20); }

INSTANTIATE_TEST_SUITE_P(Durabilities, KillAtRandomMoments,
                         testing::Combine(testing::Values("round", "30s", "stop"),
                                          testing::Values("fp32")),
                         case_name);

// With a codec that loses something, the account of all updates must balance.
class LossyKills : public testing::TestWithParam<KillCase> {};

TEST_P(LossyKills, LoseNoUpdate) { run_with_kills(4, GetParam(), 5); }

TEST_P(LossyKills, LoseNoUpdateInTwentyKills) {
  for (const std::uint32_t seed : {21u, 22u, 23u}) {
    run_with_kills(20, GetParam(), seed);
  }
}

// One codec in each durability; all pairs are long tests.
INSTANTIATE_TEST_SUITE_P(EachOnce, LossyKills,
                         testing::Values(KillCase("round", "thc:bits=4"),
                                         KillCase("30s", "topk:cr=0.1"),
                                         KillCase("stop", "thc:bits=4")),
                         case_name);
INSTANTIATE_TEST_SUITE_P(AllPairs, LossyKills,
                         testing::Combine(testing::Values("round", "30s", "stop"),
                                          testing::Values("thc:bits=4", "topk:cr=0.1", "threelc")),
                         case_name);

}  // namespace
}  // namespace tributary::end_to_end
