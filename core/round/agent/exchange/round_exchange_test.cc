// Tests of one exchange among peers from the view of one agent: the order of storing, training,
// encoding and sending, and the withdrawal if a member is lost.
#include "core/round/agent/exchange/round_exchange.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::all;
using round_testing::count;
using round_testing::kSmallValues;
using round_testing::Packed;

// The exchange of one agent. With a single member it ends at once; other members never answer.
class SomeExchange : public testing::Test {
 protected:
  using Next = RoundExchange::Next;

  explicit SomeExchange(bool trains_ahead = true) : agent_(config(trains_ahead)) {}
  static AgentConfig config(bool trains_ahead) {
    AgentConfig made = AgentParts::config();
    made.train_ahead = trains_ahead;
    return made;
  }
  void begin(std::uint32_t members, std::uint32_t exchanges = 1, const std::string& codec = "fp32",
             const std::string& schedule = {}, std::uint32_t rounds = 100) {
    agent_.have_model(0, 0, 0, schedule, rounds);
    agent_.open_session();
    updates_.begin_job(kSmallValues);
    wire::MembershipT membership;
    membership.epoch = 1;
    membership.peer_session = 7;
    membership.members.push_back(std::make_unique<wire::MemberT>());
    peers_.join(*Packed(membership));
    round_ =
        std::make_unique<AgentRound>(agent_.round_plan(1, {.codec = codec,
                                                           .members = members,
                                                           .collective = wire::Collective::ring,
                                                           .exchanges = exchanges}));
    round_->take_part_as(0);
    upload_.begin(*round_);
    exchange_.begin(*round_);
    updates_.take(round_->plan(), 0, all(1));
    round_->begin_work(round_->key().round);
    agent_.take();
  }
  Next run() {
    exchange_.start();
    Next next = Next::nothing;
    while (exchange_.has_more_to_begin() && next == Next::nothing) next = exchange_.advance();
    return next;
  }

  AgentParts agent_;
  LocalUpdates updates_;
  EncoderCache encoders_;
  FloatVector scratch_;
  RoundUpload upload_{agent_.context, agent_.session};
  RoundWithdrawal withdrawal_{agent_.session};
  AgentPeers peers_{agent_.context, agent_.replica};
  AheadOfCommit ahead_{agent_.context, agent_.replica, encoders_, scratch_};
  int prepared_ = 0;
  RoundExchange exchange_{agent_.context,
                          {.peers = peers_,
                           .updates = updates_,
                           .encoders = encoders_,
                           .ahead = ahead_,
                           .upload = upload_,
                           .withdrawal = withdrawal_},
                          [this] { ++prepared_; }};
  std::unique_ptr<AgentRound> round_;
};

TEST_F(SomeExchange, IsPreparedOnceItsRecordIsStored) {
  begin(1);
  EXPECT_EQ(run(), Next::nothing);
  EXPECT_FALSE(exchange_.running());
  EXPECT_GT(upload_.bytes(), 0u) << "alone, it uploads every result";
  EXPECT_NE(exchange_.results_hash(), 0u);
  EXPECT_FALSE(exchange_.prepared());
  const auto stored = agent_.store_all();
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(std::get<ContributionRecord>(stored[0]).parts.size(), 2u);
  EXPECT_TRUE(exchange_.prepared());
  EXPECT_EQ(prepared_, 1);
}

TEST_F(SomeExchange, TrainsOnTheModelOfTheExchangeBefore) {
  begin(1, 2);
  EXPECT_EQ(run(), Next::trains);
  EXPECT_EQ(exchange_.index(), 1u);
  EXPECT_EQ(exchange_.first_bucket(), 2u);
  ASSERT_TRUE(ahead_.begun());
  EXPECT_NE(*ahead_.model(), *agent_.replica.model());
  ahead_.add_to_input(*all(1), 1);
  updates_.take(round_->plan(), 1, all(1));
  EXPECT_EQ(run(), Next::nothing);
  agent_.store_all();
  EXPECT_TRUE(exchange_.prepared());
}

// Only then is the uplink free: until the exchange is complete, peers wait for what it carries.
TEST_F(SomeExchange, UploadsBesideTheTrainingThatFollows) {
  for (const std::uint32_t exchanges : {1u, 2u}) {
    begin(1, exchanges);
    exchange_.start();
    EXPECT_EQ(exchange_.advance(), Next::nothing);
    EXPECT_EQ(upload_.bytes(), 0u);
    EXPECT_EQ(exchange_.advance(), exchanges == 1 ? Next::nothing : Next::trains);
    EXPECT_GE(upload_.bytes(), kSmallValues * sizeof(float)) << "every result, because it is alone";
    exchange_.end();
    upload_.end();
  }
}

// The training of the next round waits for its plan, so the uplink is idle only now.
TEST_F(SomeExchange, UploadsBesideItselfIfTheLearningRateChanges) {
  begin(1, 1, "fp32", "constant:warmup=4");
  exchange_.start();
  EXPECT_EQ(exchange_.advance(), Next::nothing);
  EXPECT_GT(upload_.bytes(), 0u);
}

TEST_F(SomeExchange, UploadsBesideItselfInTheLastRound) {
  for (const std::uint32_t rounds : {1u, 2u}) {
    begin(1, 1, "fp32", {}, rounds);
    exchange_.start();
    EXPECT_EQ(exchange_.advance(), Next::nothing);
    EXPECT_EQ(upload_.bytes() > 0, rounds == 1) << rounds << " rounds";
    exchange_.end();
    upload_.end();
  }
}

class ExchangeBeforeTheCommit : public SomeExchange {
 protected:
  ExchangeBeforeTheCommit() : SomeExchange(false) {}
};

TEST_F(ExchangeBeforeTheCommit, UploadsBesideTheExchange) {
  begin(1);
  exchange_.start();
  EXPECT_EQ(exchange_.advance(), Next::nothing);
  EXPECT_GT(upload_.bytes(), 0u);
  EXPECT_EQ(exchange_.advance(), Next::nothing);
  EXPECT_FALSE(exchange_.running());
}

// A parameter of 0 keeps every bit of its update, and one of 1 leaves out 6 bits of 2^-10.
TEST_F(SomeExchange, EncodesByTheOptimizerAfterTheExchangeBefore) {
  begin(1, 2, "gcomp:truncation=metric");
  EXPECT_EQ(run(), Next::trains);
  EXPECT_EQ(round_->mechanisms().buckets_with_view, 2u);
  EXPECT_EQ(round_->cost().encoding.mantissa_bits_dropped, 0u);
  ahead_.add_to_input(*all(0x1p-10f), 1);
  updates_.take(round_->plan(), 1, all(0x1p-10f));
  EXPECT_EQ(run(), Next::nothing);
  EXPECT_EQ(round_->mechanisms().buckets_with_view, 4u);
  EXPECT_EQ(round_->cost().encoding.mantissa_bits_dropped, 6 * kSmallValues);
}

TEST_F(SomeExchange, SendsToItsPeersAndWaitsForThem) {
  begin(2);
  run();
  EXPECT_TRUE(exchange_.running());
  EXPECT_GT(count<SendToPeer>(agent_.take()), 0);
  EXPECT_GT(round_->cost().bytes_up, 0u);
}

// The small job has two buckets. The residual is that of the first round.
TEST_F(SomeExchange, BeginsBucketsWhoseValuesAreFinal) {
  const round_testing::Planned ring = {
      .codec = "topk:cr=0.5", .members = 2, .collective = wire::Collective::ring};
  begin(2, 1, ring.codec);
  round_ = std::make_unique<AgentRound>(agent_.round_plan(2, ring));
  round_->take_part_as(0);
  exchange_.begin(*round_);
  const RoundPlan& plan = round_->plan();
  ASSERT_TRUE(updates_.take_part(plan, plan,
                                 {.first_value = plan.buckets()[1].first_value, .update = all(1)}));
  exchange_.start_early();
  while (exchange_.has_more_to_begin()) EXPECT_EQ(exchange_.advance(), Next::nothing);
  EXPECT_EQ(round_->work()[0].encoded, 0u);
  EXPECT_EQ(round_->work()[1].encoded, 1u);
  EXPECT_EQ(round_->mechanisms().buckets_early, 1u);

  updates_.take(plan, 0, all(1));
  exchange_.start();
  ASSERT_TRUE(exchange_.has_more_to_begin());
  EXPECT_EQ(exchange_.advance(), Next::nothing);
  EXPECT_FALSE(exchange_.has_more_to_begin());
  EXPECT_EQ(round_->work()[0].encoded, 1u);
  EXPECT_EQ(round_->mechanisms().buckets_early, 1u);
}

TEST_F(SomeExchange, WithdrawsWhenAMemberIsLost) {
  begin(2);
  run();
  exchange_.lost({.session = 6, .member = 1, .why = {}});
  EXPECT_FALSE(round_->withdrawn()) << "an earlier session";
  exchange_.lost({.session = 7, .member = 1, .why = Status(StatusCode::unavailable, {})});
  EXPECT_TRUE(round_->withdrawn());
  EXPECT_FALSE(exchange_.running());
  EXPECT_EQ(agent_.sent<wire::AbortT>().size(), 1u);
  exchange_.withdraw_again();
  EXPECT_EQ(agent_.sent<wire::AbortT>().size(), 1u);
}

TEST_F(SomeExchange, KeepsEarlyMessages) {
  begin(2);
  const Bytes frame(10);
  EXPECT_EQ(exchange_.receive({.session = 7, .from = 1, .frame = frame, .payload = {}}),
            Next::nothing);
  EXPECT_EQ(peers_.bytes(), frame.size());
}

}  // namespace
}  // namespace tributary
