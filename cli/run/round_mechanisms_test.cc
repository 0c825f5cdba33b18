// Tests of the mechanisms of a round as JSON and as text.
#include "cli/run/round_mechanisms.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tributary {
namespace {

RoundDetail detail_with_facts() {
  RoundDetail detail;
  detail.round = 4;
  detail.attempt = 1;
  detail.mechanisms = {{.name = "quorum", .of = "", .value = 2},
                       {.name = "left_out", .of = "edge-2", .value = 3},
                       {.name = "fallbacks", .of = "", .value = 0}};
  detail.agents.resize(3);
  for (std::size_t i = 0; i < 2; ++i) {
    AgentInRound& agent = detail.agents[i];
    agent.agent_id = i == 0 ? "edge-0" : "edge-1";
    agent.mechanisms = {{.name = "buckets_by_codec", .of = "thc:bits=4", .value = 5},
                        {.name = "mantissa_bits_dropped", .of = "", .value = i == 0 ? 12.5 : 18},
                        {.name = "buckets_with_view", .of = "", .value = 0}};
  }
  detail.agents[2].agent_id = "edge-2";
  return detail;
}

TEST(RoundMechanisms, AsJson) {
  const auto json = mechanisms_json(detail_with_facts());
  EXPECT_EQ(json, nlohmann::ordered_json::parse(R"({
    "round": 4, "attempt": 1,
    "coordinator": {"quorum": 2, "left_out": {"edge-2": 3}, "fallbacks": 0},
    "agents": {
      "edge-0": {"buckets_by_codec": {"thc:bits=4": 5}, "mantissa_bits_dropped": 12.5,
                 "buckets_with_view": 0},
      "edge-1": {"buckets_by_codec": {"thc:bits=4": 5}, "mantissa_bits_dropped": 18,
                 "buckets_with_view": 0}}})"));
}

TEST(RoundMechanisms, BitsByLayerAreInTheJson) {
  RoundDetail detail;
  detail.agents.resize(1);
  detail.agents[0].agent_id = "edge-0";
  detail.agents[0].mechanisms = {{.name = "millibits_by_layer", .of = "conv1", .value = 3250},
                                 {.name = "millibits_by_layer", .of = "fc", .value = 0}};
  EXPECT_EQ(mechanisms_json(detail)["bits_by_layer"],
            nlohmann::ordered_json::parse(R"({"conv1": 3.25, "fc": 0.0})"));
  EXPECT_EQ(agents_mechanisms_text(detail), "") << "a line would be too long for a large model";
}

TEST(RoundMechanisms, AsText) {
  const RoundDetail detail = detail_with_facts();
  EXPECT_EQ(coordinator_mechanisms_text(detail), "quorum 2, left out edge-2 3");
  EXPECT_EQ(agents_mechanisms_text(detail),
            "buckets by codec thc:bits=4 5, mantissa bits dropped 12.50 to 18");
  EXPECT_EQ(agents_mechanisms_text(RoundDetail()), "");
}

}  // namespace
}  // namespace tributary
