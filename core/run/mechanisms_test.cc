// Tests of the facts about the mechanisms of a round. A generated table with all fields shows that
// none is forgotten.
#include "core/run/mechanisms.h"

#include <gtest/gtest.h>

#include <set>

#include "core/round/common/plan/mechanisms.h"
#include "schemas/fill_testing.h"

namespace tributary {
namespace {

double value_of(const std::vector<Mechanism>& list, std::string_view name,
                std::string_view of = "") {
  for (const Mechanism& one : list) {
    if (one.name == name && one.of == of) return one.value;
  }
  ADD_FAILURE() << "no " << name << " " << of;
  return -1;
}

// A table whose fields all have a value, also those that are added later.
template <typename Table>
SharedBytes full_table() {
  flatbuffers::FlatBufferBuilder builder;
  wire::PathValues values;
  builder.Finish(
      wire::TableFiller(builder, values).template table<Table>({.name = Table::Traits::name}));
  return std::make_shared<const Bytes>(builder.GetBufferPointer(),
                                       builder.GetBufferPointer() + builder.GetSize());
}

template <typename Table>
void expect_all_fields(const std::vector<Mechanism>& list) {
  std::set<std::string> names;
  for (const Mechanism& one : list) names.insert(one.name);
  for (std::size_t i = 0; i < Table::Traits::fields_number; ++i) {
    EXPECT_TRUE(names.contains(Table::Traits::field_names[i])) << Table::Traits::field_names[i];
  }
  EXPECT_EQ(names.size(), Table::Traits::fields_number);
}

TEST(Mechanisms, EveryFieldOfTheTablesIsRead) {
  expect_all_fields<wire::Mechanisms>(mechanisms_of_agent(full_table<wire::Mechanisms>()));
  expect_all_fields<wire::RoundMechanisms>(
      mechanisms_of_round(full_table<wire::RoundMechanisms>()));
}

TEST(Mechanisms, AListGivesOneEntryPerItem) {
  wire::MechanismsT facts;
  facts.values_encoded = 7;
  facts.mantissa_bits_dropped = 12.5;
  add_to_tally(facts.buckets_by_codec, "thc:bits=4");
  add_to_tally(facts.buckets_by_codec, "fp32", 3);
  add_to_tally(facts.buckets_by_codec, "thc:bits=4");
  const std::vector<Mechanism> list = mechanisms_of_agent(pack_mechanisms(facts));
  EXPECT_EQ(value_of(list, "values_encoded"), 7);
  EXPECT_EQ(value_of(list, "mantissa_bits_dropped"), 12.5);
  EXPECT_EQ(value_of(list, "buckets_by_codec", "thc:bits=4"), 2);
  EXPECT_EQ(value_of(list, "buckets_by_codec", "fp32"), 3);
  EXPECT_EQ(value_of(list, "buckets_with_view"), 0) << "zeros are facts, too";
}

TEST(Mechanisms, TalliesAreBounded) {
  wire::RoundMechanismsT facts;
  for (int i = 0; i < 100; ++i) add_to_tally(facts.left_out, std::to_string(i));
  EXPECT_EQ(facts.left_out.size(), kTalliesMax);
  add_to_tally(facts.left_out, "0");
  EXPECT_EQ(facts.left_out[0]->count, 2u) << "known kinds are still counted";
}

TEST(Mechanisms, MissingAndDamagedBytesGiveNothing) {
  EXPECT_TRUE(mechanisms_of_agent(nullptr).empty());
  EXPECT_TRUE(mechanisms_of_round(std::make_shared<const Bytes>(Bytes(9, 0xff))).empty());
  EXPECT_TRUE(mechanisms_of_round(std::make_shared<const Bytes>(Bytes(100'000, 0))).empty());
}

TEST(Mechanisms, BitsByLayerAreThoseOfTheAgentThatReportsThem) {
  wire::MechanismsT facts;
  add_to_tally(facts.millibits_by_layer, "conv1", 3500);
  add_to_tally(facts.millibits_by_layer, "fc", 0);
  std::vector<rows::AgentInRoundT> agents(2);
  EXPECT_TRUE(bits_by_layer(agents).empty());
  for (const Mechanism& one : mechanisms_of_agent(pack_mechanisms(facts))) {
    agents[1].mechanisms.push_back(one);
  }
  const std::vector<LayerBits> layers = bits_by_layer(agents);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].layer, "conv1");
  EXPECT_EQ(layers[0].bits, 3.5);
  EXPECT_EQ(layers[1].layer, "fc");
  EXPECT_EQ(layers[1].bits, 0) << "a layer that is not sent is shown, too";
  for (const MechanismRange& range : ranges_of_agents(agents)) EXPECT_NE(range.of, "conv1");
}

TEST(Mechanisms, RangesCoverTheAgentsThatReport) {
  std::vector<rows::AgentInRoundT> agents(3);
  agents[0].mechanisms = {{.name = "values_encoded", .of = "", .value = 5}};
  agents[2].mechanisms = {{.name = "values_encoded", .of = "", .value = 2},
                          {.name = "buckets_by_codec", .of = "fp32", .value = 1}};
  const std::vector<MechanismRange> ranges = ranges_of_agents(agents);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].low, 2);
  EXPECT_EQ(ranges[0].high, 5);
  EXPECT_EQ(ranges[1].of, "fp32");
}

}  // namespace
}  // namespace tributary
