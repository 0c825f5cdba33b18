// A job's setting `fusion` decides the buckets of its rounds between real daemons, and the journal
// says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/store/coordinator/run_file.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/picture_training.h"

namespace tributary::end_to_end {
namespace {

using testing::HasSubstr;

constexpr const char* kFusedLayers = R"(layers = ["a:40x50", "b:50", "c:30x30", "d:30", "e:10"]
mode = "gradient"
)";

nlohmann::json shown(const Federation& federation, std::uint64_t round) {
  return nlohmann::json::parse(
      federation.ask({"job", "show", "test", "--round", std::to_string(round)}))["data"];
}

// The number of buckets that an agent encoded in a round.
std::uint64_t encoded(const nlohmann::json& data) {
  std::uint64_t buckets = 0;
  for (const auto& [codec, count] :
       data["mechanisms"]["agents"][Federation::agent_id(0)]["buckets_by_codec"].items()) {
    buckets += count.get<std::uint64_t>();
  }
  return buckets;
}

struct FusionCase {
  std::string fusion;
  std::string codec;
  std::uint64_t groups;
};

class Fusion : public testing::TestWithParam<FusionCase> {};

TEST_P(Fusion, BucketsAreGroupsOfWholeLayers) {
  const FusionCase& fused = GetParam();
  Federation federation({.agents = 2,
                         .rounds = 3,
                         .job = std::string(kFusedLayers) + "fusion = \"" + fused.fusion + "\"\n",
                         .codec = fused.codec});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  const nlohmann::json data = shown(federation, 2);
  EXPECT_EQ(data["mechanisms"]["coordinator"]["fused"][fused.fusion], fused.groups) << data.dump();
  EXPECT_EQ(encoded(data), fused.groups) << data.dump();
  EXPECT_THAT(data["reason"].get<std::string>(),
              HasSubstr("fusion = \"" + fused.fusion + "\": " + std::to_string(fused.groups)));
}

INSTANTIATE_TEST_SUITE_P(Rules, Fusion,
                         testing::Values(FusionCase{"layerwise", "topk:cr=0.1", 5},
                                         FusionCase{"whole", "powersgd", 1},
                                         FusionCase{"even:2", "fp32", 2}),
                         [](const auto& each) {
                           return each.param.fusion.substr(0, each.param.fusion.find(':'));
                         });

class OptimalFusion : public testing::TestWithParam<const char*> {};

// Rounds 1 to 4 are profiled with one group and with five in turn; then the solver decides.
TEST_P(OptimalFusion, FollowsFromTheProfileOfTheFirstRounds) {
  Federation federation({.agents = 2,
                         .rounds = 8,
                         .job = std::string(kFusedLayers) + "fusion = \"optimal\"\nquorum = 1\n",
                         .codec = "topk:cr=0.1",
                         .coordinator_settings = {std::string("job.collective=") + GetParam()},
                         .agent_settings = {"peers.endpoint=tcp://127.0.0.1:0"}});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  const auto groups_of = [&](std::uint64_t round) {
    return shown(federation, round)["mechanisms"]["coordinator"]["fused"]["optimal"]
        .get<std::uint64_t>();
  };
  EXPECT_EQ(groups_of(1), 1u);
  EXPECT_EQ(groups_of(2), 5u);
  const nlohmann::json data = shown(federation, 7);
  const auto reason = data["reason"].get<std::string>();
  EXPECT_THAT(reason, HasSubstr("2 agents profiled"));
  EXPECT_THAT(reason, HasSubstr("predicted"));
  // The synthetic trainer has no backward pass: nothing overlaps, so a second group costs and
  // gains nothing but the overlap of encoding and sending.
  EXPECT_EQ(groups_of(7), encoded(data));
  EXPECT_THAT(reason, HasSubstr("fusion = \"optimal\": " + std::to_string(groups_of(7))));
  EXPECT_TRUE(data["mechanisms"]["coordinator"]["buckets_by_collective"].contains(GetParam()))
      << data.dump();
}

INSTANTIATE_TEST_SUITE_P(Collectives, OptimalFusion, testing::Values("star", "ring"));

TEST(FusionSetting, IsRefusedWhenTheJobIsSubmitted) {
  Federation federation(
      {.agents = 1, .rounds = 1, .job = std::string(kFusedLayers) + "fusion = \"layer-wise\"\n"});
  Process coordinator(federation.coordinator_command(), federation.path("refused.log"));
  EXPECT_NE(coordinator.wait(), 0);
  EXPECT_FALSE(coordinator.lines_with({"fusion", "layerwise"}).empty());
}

// Plays a job whose layers are fused by this rule, and returns the share of its buckets that agents
// encoded while backward still ran.
double share_early(const std::string& fusion, std::vector<std::string> settings,
                   const std::string& collective = "star") {
  settings.emplace_back("peers.endpoint=tcp://127.0.0.1:0");
  Federation federation(
      {.agents = 2,
       .rounds = 6,
       .job = std::string(kLenet) + "mode = \"gradient\"\nfusion = \"" + fusion + "\"\n",
       .codec = "topk:cr=0.1",
       .coordinator_settings = {"job.collective=" + collective},
       .agent_settings = settings});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_EQ(federation.coordinator()
                .lines_with({"round committed", "collective=" + collective + " "})
                .size(),
            6u);
  const auto run = RunFile::open(federation.coordinator_journal());
  EXPECT_TRUE(run.ok()) << run.status().text();
  const auto reports = (*run)->agent_rounds((*run)->jobs()->at(0).job, 1, 6);
  EXPECT_TRUE(reports.ok()) << reports.status().text();
  double early = 0;
  double buckets = 0;
  for (const AgentRoundRecord& report : *reports) {
    const auto* facts = flatbuffers::GetRoot<wire::Mechanisms>(report.mechanisms->data());
    early += facts->buckets_early();
    for (const wire::Tally* tally : *facts->buckets_by_codec()) {
      buckets += static_cast<double>(tally->count());
    }
  }
  return early / buckets;
}

class FusedTraining : public PictureTraining {};

// The group of all layers is never final before the update.
TEST_F(FusedTraining, LayersAreEncodedWhileBackwardStillRuns) {
  EXPECT_EQ(share_early("whole", settings()), 0);
  EXPECT_GT(share_early("layerwise", settings()), 0);
}

TEST_F(FusedTraining, PeersExchangeLayersWhileBackwardStillRuns) {
  EXPECT_GT(share_early("layerwise", settings(), "ring"), 0);
}

}  // namespace
}  // namespace tributary::end_to_end
