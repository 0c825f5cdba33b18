// Tests of an agent's contribution to a round by the star: encoding, the residual that remains, and
// uploads that continue in a later round.
#include "core/round/agent/participation/contribution.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::all;
using round_testing::kBucketValues;
using round_testing::kSmallValues;

// The contribution of member 0 in round 1, whose update is 1 everywhere.
class SomeContribution : public testing::Test {
 protected:
  explicit SomeContribution(const AgentConfig& config = AgentParts::config()) : agent_(config) {}

  void begin(const round_testing::Planned& planned, float parameter = 0, float update = 1) {
    agent_.have_model(0, parameter);
    agent_.open_session();
    updates_.begin_job(kSmallValues);
    round_ = std::make_unique<AgentRound>(agent_.round_plan(1, planned));
    round_->take_part_as(0);
    upload_.begin(*round_);
    contribution_.begin(*round_);
    updates_.take(round_->plan(), 0, all(update));
    round_->begin_work(round_->key().round);
  }

  // The upload of bucket 0 is cut off in round 1, which does not count it; round 2 begins.
  void begin_after_a_cut(const round_testing::Planned& planned = {}) {
    begin(planned);
    encode_all();
    agent_.store_all();
    upload_.pump();
    cut_off(0);
    begin_next(2, planned, Bitmap(2));
  }
  void cut_off(std::uint32_t stage) {
    auto payload = upload_.close_stage(0, stage);
    ASSERT_TRUE(payload);
    contribution_.cut_off(*payload);
  }
  // The round ends with these buckets of the agent, and another one begins.
  void begin_next(std::uint64_t round, const round_testing::Planned& planned,
                  const Bitmap& counted) {
    contribution_.committed(counted);
    upload_.end();
    updates_.residual().settle(round_->key(), counted);
    round_ = std::make_unique<AgentRound>(agent_.round_plan(round, planned));
    round_->take_part_as(0);
    upload_.begin(*round_);
    contribution_.begin(*round_);
  }
  // Sends the payloads of all buckets. Returns the stage of the payload of bucket 0.
  std::uint32_t sent_stage() {
    encode_all();
    agent_.store_all();
    upload_.pump();
    for (const std::uint32_t stage : {0u, 1u, 2u}) {
      if (bulk().has({.round = round_->key(), .bucket = 0, .stage = stage})) return stage;
    }
    return UINT32_MAX;
  }

  void encode_all() {
    contribution_.start();
    while (contribution_.has_more()) contribution_.encode_some();
  }
  BulkSender& bulk() { return agent_.session.conversation()->bulk(); }
  void acknowledge_all() { bulk().acknowledged(0, bulk().last_number()); }

  AgentParts agent_;
  LocalUpdates updates_;
  EncoderCache encoders_;
  RoundUpload upload_{agent_.context, agent_.session};
  RoundWithdrawal withdrawal_{agent_.session};
  NetworkExchange network_{agent_.context, {.upload = upload_, .withdrawal = withdrawal_}, [] {}};
  FloatVector scratch_;
  int stored_ = 0;
  Contribution contribution_{agent_.context,
                             {.replica = agent_.replica,
                              .updates = updates_,
                              .encoders = encoders_,
                              .upload = upload_,
                              .network = network_,
                              .withdrawal = withdrawal_,
                              .scratch = scratch_},
                             [this] { ++stored_; }};
  std::unique_ptr<AgentRound> round_;
};

TEST_F(SomeContribution, APayloadThatWasCutOffIsSentInTheNextRound) {
  begin_after_a_cut();
  round_->begin_work(1);
  encode_all();
  const auto stored = agent_.store_all();
  EXPECT_EQ(std::get<ContributionRecord>(stored.at(0)).parts.at(0).if_committed, nullptr);
  EXPECT_EQ(round_->mechanisms().uploads_continued, 1u);
  upload_.pump();
  EXPECT_TRUE(agent_.sent<wire::ReceiptT>().empty()) << "the session still sends it for round 1";
  acknowledge_all();
  upload_.pump();
  const auto announced = agent_.sent<wire::ReceiptT>();
  ASSERT_EQ(announced.size(), 1u);
  EXPECT_EQ(announced[0].encoded_round, 1u);
}

TEST_F(SomeContribution, APayloadThatLacksALaterUpdateIsEncodedAnew) {
  begin_after_a_cut();
  updates_.take(round_->plan(), 0, all(1));
  round_->begin_work(2);
  encode_all();
  EXPECT_FALSE(bulk().idle());
  agent_.store_all();
  EXPECT_EQ(round_->mechanisms().uploads_continued, 0u);
  EXPECT_FALSE(bulk().has({.round = agent_.round_plan(1)->key()})) << "it lacks the later update";
}

constexpr std::uint32_t kStandaloneStage = 2;  // int8_shared has two stages

round_testing::Planned with_standalone() { return {.codec = "int8_shared", .standalone = true}; }

TEST_F(SomeContribution, IsStandaloneAfterACut) {
  begin_after_a_cut(with_standalone());
  round_->begin_work(1);
  EXPECT_EQ(sent_stage(), kStandaloneStage);
  EXPECT_EQ(updates_.residual().undecided().back().parts.size(), 1u) << "of the other, stage 0";
  cut_off(kStandaloneStage);
  begin_next(3, with_standalone(), Bitmap(2));
  round_->begin_work(1);
  encode_all();
  EXPECT_EQ(round_->mechanisms().uploads_continued, 1u);
}

TEST_F(SomeContribution, IsNotStandaloneIfThePlanDoesNotAllowIt) {
  begin_after_a_cut({.codec = "int8_shared"});
  round_->begin_work(1);
  EXPECT_EQ(sent_stage(), 0u);
}

TEST_F(SomeContribution, IsNotStandaloneAfterOneThatWasInTime) {
  begin_after_a_cut(with_standalone());
  round_->begin_work(1);
  EXPECT_EQ(sent_stage(), kStandaloneStage);
  Bitmap counted(2);
  counted.set(0);
  begin_next(3, with_standalone(), counted);
  updates_.take(round_->plan(), 0, all(1));
  round_->begin_work(3);
  EXPECT_EQ(sent_stage(), 0u);
}

TEST_F(SomeContribution, IsNotStandaloneInTheNextAttemptAtARound) {
  begin_after_a_cut(with_standalone());
  round_->begin_work(1);
  EXPECT_EQ(sent_stage(), kStandaloneStage);
  contribution_.failed();
  round_testing::Planned again = with_standalone();
  again.attempt = 1;
  begin_next(2, again, Bitmap(2));
  round_->begin_work(1);
  EXPECT_EQ(sent_stage(), 0u);
}

TEST_F(SomeContribution, UploadsTheStoredPayload) {
  begin({});
  encode_all();
  EXPECT_EQ(upload_.bytes(), 0u);
  EXPECT_FALSE(contribution_.all_stored());
  const auto stored = agent_.store_all();
  ASSERT_EQ(stored.size(), 1u);
  const auto& record = std::get<ContributionRecord>(stored[0]);
  EXPECT_EQ(record.parts.size(), 2u);
  EXPECT_EQ(record.residual, nullptr) << "the stored one is that of the other outcome";
  EXPECT_EQ(*record.encoded, *all(1));
  EXPECT_GT(upload_.bytes(), 0u);
  EXPECT_TRUE(contribution_.all_stored());
  EXPECT_EQ(stored_, 1);
  EXPECT_EQ(updates_.residual().undecided().size(), 1u);
}

TEST_F(SomeContribution, LeavesTheErrorOfItsCodec) {
  begin({.codec = "topk:cr=0.25"});
  encode_all();
  const auto stored = agent_.store_all();
  const ContributionPart& part = std::get<ContributionRecord>(stored.at(0)).parts.at(0);
  ASSERT_NE(part.if_committed, nullptr);
  EXPECT_EQ(std::ranges::count(*part.if_committed, 0.0f), kBucketValues / 4) << "these are sent";
  EXPECT_EQ(std::ranges::count(*part.if_committed, 1.0f), 3 * kBucketValues / 4);
}

TEST_F(SomeContribution, SendsNothingOfARoundThatHasEnded) {
  begin({});
  encode_all();
  contribution_.end();
  agent_.store_all();
  EXPECT_EQ(upload_.bytes(), 0u);
  EXPECT_EQ(stored_, 0);
}

class ContributionInSteps : public SomeContribution {
 protected:
  ContributionInSteps() : SomeContribution(config()) {}
  static AgentConfig config() {
    AgentConfig made = AgentParts::config();
    made.encoded_values_at_once = 1;
    return made;
  }
};

// The first bucket is on its way to the journal, and from there to the coordinator, while the
// second one is encoded.
TEST_F(ContributionInSteps, StoresAndSendsABucketBeforeTheNextOneIsEncoded) {
  begin({.codec = "int8"});
  contribution_.start();
  contribution_.encode_some();
  EXPECT_TRUE(contribution_.has_more());
  EXPECT_EQ(round_->work()[1].encoded, 0u);
  auto stored = agent_.store_all();
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(std::get<ContributionRecord>(stored[0]).parts.size(), 1u);
  const std::uint64_t one = upload_.bytes();
  EXPECT_GT(one, 0u);
  contribution_.encode_some();
  EXPECT_FALSE(contribution_.has_more());
  EXPECT_EQ(agent_.store_all().size(), 1u);
  EXPECT_GT(upload_.bytes(), one);
}

TEST_F(SomeContribution, SendsNoStageThatHasClosedMeanwhile) {
  begin({});
  encode_all();
  round_->work()[0].combined.push_back(std::make_shared<const Bytes>(1));
  agent_.store_all();
  const std::uint64_t one = upload_.bytes();
  contribution_.encode_next(1);
  agent_.store_all();
  EXPECT_EQ(upload_.bytes(), one) << "a bucket is encoded once";
  round_->work()[1].encoded = 0;
  contribution_.encode_next(1);
  agent_.store_all();
  EXPECT_EQ(upload_.bytes(), 2 * one);
}

// The last bits of an update of 1 do not change a parameter of 1024. They stay in the residual.
TEST_F(SomeContribution, LeavesOutBitsThatTheOptimizerRoundsAway) {
  begin({.codec = "gcomp:truncation=metric"}, 1024, 1 + 0x1p-20f);
  encode_all();
  const auto stored = agent_.store_all();
  ASSERT_EQ(stored.size(), 1u);
  for (const ContributionPart& part : std::get<ContributionRecord>(stored[0]).parts) {
    EXPECT_EQ(*part.if_committed, FloatVector(kBucketValues, 0x1p-20f));
  }
  EXPECT_EQ(round_->mechanisms().buckets_with_view, 2u);
  EXPECT_EQ(round_->cost().encoding.mantissa_bits_dropped, 6 * kSmallValues);
}

TEST_F(SomeContribution, ShowsTheOptimizerOnlyToACodecThatReadsIt) {
  for (const std::string codec : {"fp32", "gcomp:truncation=none", "gcomp:truncation=6"}) {
    begin({.codec = codec}, 1024);
    encode_all();
    agent_.store_all();
    EXPECT_EQ(round_->mechanisms().buckets_with_view, 0u) << codec;
  }
}

}  // namespace
}  // namespace tributary
