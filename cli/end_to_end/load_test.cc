// Many simulated agents against a coordinator that the program starts itself.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/end_to_end/program_testing.h"

namespace tributary {
namespace {

using Json = nlohmann::json;
using program_testing::Outcome;
using program_testing::run;

TEST(Load, EveryAgentGetsEveryRoundWithAndWithoutEncryption) {
  for (const char* curve : {"on", "off"}) {
    const Outcome outcome = run({"load", "--agents", "5", "--params", "2000", "--codec", "thc",
                                 "--rounds", "4", "--curve", curve, "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    const Json data = Json::parse(outcome.out)["data"];
    EXPECT_EQ(data["agents_finished"], 5);
    EXPECT_EQ(data["agents_lost"], 0);
    EXPECT_EQ(data["replicas_identical"], true);
    EXPECT_GT(data["round_s_median"], 0);
    EXPECT_GT(data["coordinator_peak_bytes"], 1 << 20);
    EXPECT_GT(data["bytes_up"], 0);
    EXPECT_GT(data["bytes_down"], 0);
  }
}

TEST(Load, ACoordinatorThatCannotBeStartedIsAnError) {
  const Outcome outcome = run({"load", "--agents", "1", "--params", "10", "--codec", "fp32",
                               "--coordinator", "/nowhere/at/all"});
  EXPECT_EQ(outcome.code, 21) << outcome.err;
}

}  // namespace
}  // namespace tributary
