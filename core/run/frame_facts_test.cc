// Tests of reading job definitions and plans that are stored as frames; unreadable ones give empty
// facts.
#include "core/run/frame_facts.h"

#include <gtest/gtest.h>

#include "core/run/run_frames_testing.h"
#include "core/store/coordinator/stored_frames.h"

namespace tributary {
namespace {

TEST(JobDefinition, HasTheFieldsOfTheFrame) {
  const JobDefinition definition = job_definition(run_testing::definition("digits", 250));
  EXPECT_EQ(definition.name, "digits");
  EXPECT_EQ(definition.model, "lenet");
  EXPECT_EQ(definition.rounds_configured, 20U);
  EXPECT_EQ(definition.parameters, 250U);
}

TEST(JobDefinition, IsEmptyWhereTheFrameCannotBeRead) {
  const SharedBytes frames[] = {nullptr, std::make_shared<Bytes>(Bytes{1, 2, 3}),
                                run_testing::plan(1, {})};
  for (const SharedBytes& frame : frames) {
    const JobDefinition definition = job_definition(frame);
    EXPECT_EQ(definition.name, "");
    EXPECT_EQ(definition.parameters, 0U);
  }
}

TEST(ExchangeValues, AreTheSumsOfTheBuckets) {
  const SharedBytes frame = run_testing::plan(1, {.buckets = 4});
  const wire::Plan* const plan = stored_plan(frame);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(exchange_values(*plan), (std::vector<std::uint64_t>{1500, 500}));
}

TEST(ExchangeValues, ABucketOfAnExchangeThatIsNotThereCountsNowhere) {
  wire::PlanT plan;
  plan.exchanges.push_back(run_testing::exchange("raw", 1));
  for (const std::uint32_t exchange : {0u, 7u}) {
    plan.buckets.push_back(std::make_unique<wire::BucketT>());
    plan.buckets.back()->values = 100;
    plan.buckets.back()->exchange = exchange;
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(wire::Plan::Pack(builder, &plan));
  EXPECT_EQ(exchange_values(*flatbuffers::GetRoot<wire::Plan>(builder.GetBufferPointer())),
            std::vector<std::uint64_t>{100});
  builder.Clear();
  const wire::PlanT empty;
  builder.Finish(wire::Plan::Pack(builder, &empty));
  EXPECT_TRUE(
      exchange_values(*flatbuffers::GetRoot<wire::Plan>(builder.GetBufferPointer())).empty());
}

TEST(PlannedRatio, IsThatOfTheChosenAlternativeIfTheSpecContainsIt) {
  const auto ratio_of = [](double in_exchange, const std::string& chosen_codec) {
    wire::PlanT plan;
    plan.exchanges.push_back(run_testing::exchange("topk:cr=0.1", in_exchange));
    plan.reason = std::make_unique<wire::ReasonT>();
    plan.reason->alternatives.push_back(std::make_unique<wire::AlternativeT>());
    wire::AlternativeT& chosen = *plan.reason->alternatives.back();
    chosen.codec = chosen_codec;
    chosen.ratio = 0.1;
    chosen.chosen = true;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Plan::Pack(builder, &plan));
    const auto* stored = flatbuffers::GetRoot<wire::Plan>(builder.GetBufferPointer());
    return planned_ratio(*stored, *stored->exchanges()->Get(0));
  };
  EXPECT_EQ(ratio_of(1, "topk:cr=0.1"), 0.1);
  EXPECT_EQ(ratio_of(1, "int8"), 1) << "the choice is for another exchange";
  EXPECT_EQ(ratio_of(0.5, "topk:cr=0.1"), 0.5) << "the exchange states it itself";
}

}  // namespace
}  // namespace tributary
