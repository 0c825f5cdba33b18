// A job between daemons whose codec divides bits among blocks: the journal has the bits of every
// layer, once for each round.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "core/run/mechanisms.h"
#include "core/store/coordinator/run_file.h"
#include "schemas/frame_generated.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint64_t kRatedRounds = 4;

class LayerBitsOfAJob : public testing::TestWithParam<const char*> {};

TEST_P(LayerBitsOfAJob, AreInTheJournal) {
  // The second layer lies in two buckets.
  Federation federation({.rounds = kRatedRounds,
                         .job = R"(layers = ["first:3000", "second:20x100", "third:1096"])",
                         .codec = "thc:rate=1",
                         .coordinator_settings = {std::string("job.collective=") + GetParam()},
                         .agent_settings = {"peers.endpoint=tcp://127.0.0.1:0"}});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_EQ(federation.coordinator()
                .lines_with({"round committed", std::string("collective=") + GetParam() + " "})
                .size(),
            kRatedRounds);
  const auto file = RunFile::open(federation.coordinator_journal());
  ASSERT_TRUE(file.ok()) << file.status().text();
  const auto reports = (*file)->agent_rounds((*file)->jobs()->front().job, 1, kRatedRounds);
  ASSERT_TRUE(reports.ok()) << reports.status().text();
  std::map<std::uint64_t, int> reported;
  for (const AgentRoundRecord& report : *reports) {
    rows::AgentInRoundT agent;
    agent.mechanisms = mechanisms_of_agent(report.mechanisms);
    const std::vector<LayerBits> layers = bits_by_layer({agent});
    if (layers.empty()) continue;
    ++reported[report.id.round];
    ASSERT_EQ(layers.size(), 3u);
    EXPECT_EQ(layers[0].layer, "first");
    EXPECT_EQ(layers[1].layer, "second");
    EXPECT_EQ(layers[2].layer, "third");
    // The rate holds in each bucket for coordinates, of which less than 64 are padding.
    const double bits =
        (3000 * layers[0].bits + 2000 * layers[1].bits + 1096 * layers[2].bits) / 6096;
    EXPECT_LE(bits, 1.02);
    EXPECT_GT(bits, 0.8);
  }
  EXPECT_EQ(reported.size(), kRatedRounds);
  for (const auto& [round, times] : reported) EXPECT_EQ(times, 1) << "in round " << round;
}

INSTANTIATE_TEST_SUITE_P(Collectives, LayerBitsOfAJob,
                         testing::Values("star", "sharded_star", "ring"),
                         [](const auto& collective) { return std::string(collective.param); });

}  // namespace
}  // namespace tributary::end_to_end
