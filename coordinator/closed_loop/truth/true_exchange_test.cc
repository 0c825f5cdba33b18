#include "coordinator/closed_loop/truth/true_exchange.h"

#include <gtest/gtest.h>

#include <string>

#include "coordinator/closed_loop/truth/closed_loop_testing.h"

namespace tributary {
namespace {

using closed_loop_testing::steady;

constexpr double kOneMegabit = 125'000;
// The plan and the commit at 1 Mbit/s.
constexpr double kCommit_s = 0.008;

TrueWork work_of(wire::Collective kind, std::uint32_t buckets, double bytes,
                 StageFlow flow = StageFlow::reduced) {
  TrueWork work = {.kind = kind, .buckets = buckets};
  work.stages = {{.flow = flow, .up_bytes = bytes, .down_bytes = bytes}};
  work.begins_s.assign(4, 1);
  return work;
}

TrueExchanged play(const PlanScenario& scenario, const TrueWork& work) {
  const TrueFederation federation = make_federation(scenario, 1);
  TcpWindows windows;
  return play_exchange(federation, {0, 1, 2, 3}, windows, work);
}

// A second up and a second down.
TEST(TrueExchange, StarWithOneBucket) {
  const TrueExchanged exchanged =
      play(steady(1, 0), work_of(wire::Collective::star, 1, kOneMegabit));
  EXPECT_NEAR(exchanged.ends_s, 1 + 2 + kCommit_s, 1e-6);
  ASSERT_EQ(exchanged.uploads.size(), 4u);
  EXPECT_DOUBLE_EQ(exchanged.uploads[3].bytes, kOneMegabit);
  EXPECT_NEAR(exchanged.uploads[3].last_s, 2, 1e-6);
  EXPECT_EQ(exchanged.messages, 12u);
}

// Buckets go down while later ones go up.
TEST(TrueExchange, StarWithBucketsOverlapsBothDirections) {
  const TrueExchanged exchanged =
      play(steady(1, 0), work_of(wire::Collective::star, 10, kOneMegabit / 10));
  EXPECT_NEAR(exchanged.ends_s, 1 + 1.1 + kCommit_s, 1e-6);
}

// The rate of an upload is that of the link, from the bytes after the first part.
TEST(TrueExchange, UploadsMeasureTheLink) {
  const TrueExchanged exchanged =
      play(steady(1, 40), work_of(wire::Collective::star, 4, 2 * kOneMegabit));
  const TrueExchanged::Upload& upload = exchanged.uploads[1];
  EXPECT_NEAR((upload.last_s - upload.first_s) / upload.bytes_after_first, 8e-6, 1e-9);
}

TEST(TrueExchange, LastMemberToTrainDelaysAll) {
  TrueWork work = work_of(wire::Collective::star, 1, kOneMegabit);
  work.begins_s[2] = 5;
  EXPECT_NEAR(play(steady(1, 0), work).ends_s, 5 + 2 + kCommit_s, 1e-6);
}

TEST(TrueExchange, MemberWithASmallerShareSendsLess) {
  TrueWork work = work_of(wire::Collective::star, 1, kOneMegabit);
  work.upload_share = {1, 1, 1, 0.1};
  EXPECT_NEAR(play(steady(1, 0), work).uploads[3].bytes, kOneMegabit / 10, 1e-6);
}

// Sums travel over three links and results over three, and the coordinator gets a fourth of all
// from each member: four buckets of a second each, up and down at once.
TEST(TrueExchange, RingTakesTwiceTheWayAroundAndTheUpload) {
  const TrueExchanged exchanged =
      play(steady(1, 0), work_of(wire::Collective::ring, 4, kOneMegabit));
  EXPECT_NEAR(exchanged.ends_s, 1 + 6 + 1, 0.6);
}

TEST(TrueExchange, LargePayloadsBetweenAgentsMeasureTheLink) {
  // The uploads of results use other links.
  PlanScenario scenario = steady(1, 0);
  scenario.peers = PlanLinkSettings{.rate_mbit_s = {1, 1}, .delay_ms = {1, 1}};
  const TrueExchanged exchanged = play(scenario, work_of(wire::Collective::ring, 4, kOneMegabit));
  ASSERT_FALSE(exchanged.pairs.empty());
  for (const TrueExchanged::Pair& pair : exchanged.pairs) {
    EXPECT_NEAR(pair.seconds / pair.bytes, 8e-6, 2e-6);
  }
  EXPECT_TRUE(play(scenario, work_of(wire::Collective::ring, 4, 1000)).pairs.empty());
}

TEST(TrueExchange, SlowDevicesEncodeAndDecodeMoreSlowly) {
  TrueWork work = work_of(wire::Collective::star, 1, 0);
  work.stages[0].encode_s = 0.1;
  work.decode_s = 0.2;
  EXPECT_NEAR(play(steady(1, 0), work).ends_s, 1 + 0.3, 1e-6);
  work.cpu_slowdown = 10;
  EXPECT_NEAR(play(steady(1, 0), work).ends_s, 1 + 3, 1e-6);
}

class EveryCollective : public testing::TestWithParam<std::tuple<wire::Collective, StageFlow>> {};

// The number of messages is known beforehand, and no bucket is lost on its way: the exchange could
// not upload its result otherwise.
TEST_P(EveryCollective, CompletesWithTheExpectedMessages) {
  const auto [kind, flow] = GetParam();
  const TrueWork work = work_of(kind, 6, 10'000, flow);
  const TrueExchanged exchanged = play(steady(10, 5), work);
  const bool star = kind == wire::Collective::star;
  for (const TrueExchanged::Upload& upload : exchanged.uploads) EXPECT_GT(upload.bytes, 0);
  // At most as many as predicted, and four commits; among peers also six results and four reports.
  EXPECT_LE(static_cast<double>(exchanged.messages),
            messages_of(kind, work.stages, 4, 6) + (star ? 4 : 14));
  EXPECT_GE(static_cast<double>(exchanged.messages), 6 * 2 * 3.0);
  EXPECT_GT(exchanged.ends_s, 1.01);
}

INSTANTIATE_TEST_SUITE_P(Cases, EveryCollective,
                         testing::Combine(testing::ValuesIn(kCollectives),
                                          testing::Values(StageFlow::reduced,
                                                          StageFlow::gathered)));

}  // namespace
}  // namespace tributary
