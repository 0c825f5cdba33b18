// Tests of the report that an agent sends after a round: its figures are finite, it is sent once,
// and codecs are tried only while the agent waits.
#include "core/round/agent/participation/agent_reporter.h"

#include <algorithm>
#include <limits>

#include "core/codec/thc/gain/rate_gain.h"
#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::all;
using round_testing::kBucketValues;

// The reporter of an agent that is member 1 and has an open session.
class SomeReporter : public testing::Test {
 protected:
  void SetUp() override {
    agent_.have_model();
    agent_.open_session();
  }
  std::unique_ptr<AgentRound> round(std::uint64_t number, std::vector<std::string> trials = {}) {
    auto made =
        std::make_unique<AgentRound>(agent_.round_plan(number, {.trials = std::move(trials)}));
    made->take_part_as(1);
    return made;
  }
  wire::ReportT report(AgentRound& round) {
    reporter_.report(round, {.model = agent_.replica.id(), .residual_norm = 3});
    const auto sent = agent_.sent<wire::ReportT>();
    EXPECT_EQ(sent.size(), 1u);
    return sent.empty() ? wire::ReportT() : sent[0];
  }

  AgentParts agent_;
  AgentReporter reporter_{agent_.context, agent_.session};
};

TEST_F(SomeReporter, ReportsMeasurementsAsFiniteNumbers) {
  reporter_.measured({.update = nullptr,
                      .loss = std::numeric_limits<double>::quiet_NaN(),
                      .examples = 5,
                      .metrics = {{.kind = ReadingKind::evaluation_loss, .value = 2}}},
                     7);
  const wire::ReportT sent = report(*round(1));
  EXPECT_EQ(sent.agent_index, 1u);
  EXPECT_EQ(sent.loss, 0);
  EXPECT_EQ(sent.examples, 5u);
  EXPECT_EQ(sent.update_norm, 7);
  EXPECT_EQ(sent.residual_norm, 3);
  EXPECT_EQ(sent.metrics.size(), 1u);
}

TEST_F(SomeReporter, ReportsOnceUntilTheReportIsForgotten) {
  EXPECT_FALSE(reporter_.forget_report());
  EXPECT_TRUE(reporter_.can_report());
  report(*round(1));
  EXPECT_FALSE(reporter_.can_report());
  EXPECT_TRUE(reporter_.forget_report());
  EXPECT_TRUE(reporter_.can_report());
  agent_.session.close();
  EXPECT_FALSE(reporter_.can_report());
}

TEST_F(SomeReporter, ReportsTheCostOfARoundWithTheNext) {
  const auto first = round(1);
  first->count_encoded(first->plan().buckets()[0], {}, true);
  first->cost() = {.encode_ns = 1'000'000'000,
                   .decode_ns = 2'000'000'000,
                   .bytes_up = 10,
                   .bytes_down = 30,
                   .exchange_ns = 3'000'000'000,
                   .encoding = {.mantissa_bits_dropped = 6 * kBucketValues}};
  const wire::ReportT before = report(*first);
  EXPECT_EQ(before.encode_s, 1);
  EXPECT_EQ(before.bytes_up, 0u);
  ASSERT_NE(before.mechanisms, nullptr);
  EXPECT_EQ(before.mechanisms->buckets_with_view, 1u);
  EXPECT_EQ(before.mechanisms->mantissa_bits_dropped, 6) << "in the mean of all encoded values";
  EXPECT_EQ(before.mechanisms->trials, 0u);
  agent_.context.now += 4'000 * kNsPerMs;
  reporter_.committed(*first);
  reporter_.drop_round();
  const wire::ReportT after = report(*round(2));
  EXPECT_EQ(after.wait_s, 4);
  EXPECT_EQ(after.decode_s, 2);
  EXPECT_EQ(after.bytes_up, 10u);
  EXPECT_EQ(after.bytes_down, 30u);
  EXPECT_EQ(after.exchange_s, 3);
}

TEST_F(SomeReporter, ReportsTheGainAtRatesIfThePlanAsksForGains) {
  wire::PlanT plan = agent_.plan(1, {});
  plan.gain_wanted = true;
  const auto round_plan = RoundPlan::make(plan, *agent_.replica.job(), agent_.codecs);
  ASSERT_TRUE(round_plan.ok()) << round_plan.status().text();
  const auto first = round(1);
  reporter_.measure_gain(first->plan(), all(1));
  EXPECT_EQ(report(*first).rate_gain, nullptr);
  reporter_.drop_round();
  reporter_.measure_gain(**round_plan, all(1));
  const wire::ReportT sent = report(*round(2));
  ASSERT_NE(sent.rate_gain, nullptr);
  ASSERT_EQ(sent.rate_gain->ratios.size(), std::size(thc::kGainRates));
  ASSERT_EQ(sent.rate_gain->gains.size(), std::size(thc::kGainRates));
  EXPECT_TRUE(std::ranges::is_sorted(sent.rate_gain->gains));
  EXPECT_GT(sent.rate_gain->gains.back(), 0.99F);
}

TEST_F(SomeReporter, TriesCodecsWhileItWaits) {
  const auto first = round(1, {"int8", "fp32"});
  const auto update = all(1);
  reporter_.begin_trials(first->plan(), 0, [&](const PlannedBucket& bucket) {
    return CodecTrials::Input{
        .values = std::span<const float>(*update).subspan(bucket.first_value, bucket.values)};
  });
  EXPECT_FALSE(reporter_.trying()) << "the payloads are not made yet";
  report(*first);
  while (reporter_.trying()) reporter_.try_next(agent_.codecs);
  reporter_.end_trials();
  reporter_.drop_round();
  const wire::ReportT second = report(*round(2));
  EXPECT_EQ(second.trials.size(), 2u);
  EXPECT_EQ(second.mechanisms->trials, 2u);
  reporter_.drop_round();
  EXPECT_TRUE(report(*round(3)).trials.empty()) << "each result is reported once";
}

}  // namespace
}  // namespace tributary
