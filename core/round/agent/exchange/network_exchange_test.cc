// Tests of an agent's exchange through an aggregator in the network: the order of the buckets, the
// bytes of the results, the linear check, and failures.
#include "core/round/agent/exchange/network_exchange.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/collective/in_network/linear_check.h"
#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::kBucketValues;

constexpr std::uint32_t kMembers = 2;

// Member 0 of two, in a round whose first stage is over. The payloads and the star's results of
// both members are known.
class NetworkExchangeTest : public testing::Test {
 protected:
  void SetUp() override {
    agent_.have_model();
    agent_.open_session();
    round_ = std::make_unique<AgentRound>(agent_.round_plan(
        1, {.codec = "thc", .members = kMembers, .collective = wire::Collective::in_network}));
    round_->take_part_as(0);
    round_->begin_work(1);
    upload_.begin(*round_);
    network_.begin(*round_);
    for (std::uint32_t bucket = 0; bucket < 2; ++bucket) play_star(bucket);
  }

  void play_star(std::uint32_t bucket) {
    const PlannedBucket& planned = round_->plan().buckets()[bucket];
    std::vector<std::unique_ptr<Encoder>> encoders;
    std::vector<ByteSpan> combined;
    for (std::uint32_t stage = 0; stage < 2; ++stage) {
      const auto aggregator = planned.codec->make_aggregator(stage, planned.values);
      StageCall call{.round = round_->plan().context(planned), .combined = combined};
      ASSERT_TRUE(aggregator->begin(call, {}).ok());
      for (std::uint32_t member = 0; member < kMembers; ++member) {
        if (stage == 0) encoders.push_back(planned.codec->make_encoder(planned.values));
        call.round.agent = member;
        FloatVector values(planned.values);
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = static_cast<float>(i * (member + 1) + bucket) - 20;
        }
        Bytes payload;
        ASSERT_TRUE(encoders[member]->encode(call, values, payload).ok());
        ASSERT_TRUE(aggregator->add(call, payload).ok());
        payloads_[bucket][member] = std::make_shared<const Bytes>(std::move(payload));
      }
      Bytes finished;
      ASSERT_TRUE(aggregator->finish(call, finished).ok());
      star_[bucket].push_back(std::make_shared<const Bytes>(std::move(finished)));
      combined.emplace_back(*star_[bucket].back());
    }
    round_->work()[bucket].combined = {star_[bucket][0]};
  }

  void add(std::uint32_t bucket) {
    network_.add({.bucket = bucket, .stage = 1, .bytes = payloads_[bucket][0]});
  }
  NetworkSummed summed(std::uint32_t bucket) const {
    const PlannedBucket& planned = round_->plan().buckets()[bucket];
    auto sums = std::make_shared<Bytes>();
    for (std::size_t i = 0; i < 2 * thc::network_levels(*payloads_[bucket][0]).size(); ++i) {
      std::uint32_t sum = 0;
      for (const SharedBytes& payload : payloads_[bucket]) {
        sum += planned.network->places[thc::network_levels(*payload)[i / 2] >> (i % 2 * 4) & 15];
      }
      sums->push_back(static_cast<std::uint8_t>(sum));
    }
    return {.id = round_->key(), .bucket = bucket, .sums = sums, .packets = 3, .repeats = 1};
  }
  std::vector<SumInNetwork> requests() {
    std::vector<SumInNetwork> found;
    for (const Action& action : agent_.take()) {
      if (const auto* request = std::get_if<SumInNetwork>(&action)) found.push_back(*request);
    }
    return found;
  }
  int stops() { return round_testing::count<StopSums>(agent_.take()); }
  // The combination of everything that the other member sends.
  std::uint64_t sent_by_the_other() const {
    std::uint64_t sent = 0;
    for (std::uint32_t bucket = 0; bucket < 2; ++bucket) {
      const in_network::BucketCheck check(round_->plan().sums().check_secret, bucket);
      sent = in_network::linear_plus(
          sent, check.of_levels(thc::network_levels(*payloads_[bucket][1]),
                                round_->plan().buckets()[bucket].network->places));
    }
    return sent;
  }

  AgentParts agent_;
  RoundUpload upload_{agent_.context, agent_.session};
  RoundWithdrawal withdrawal_{agent_.session};
  int completed_ = 0;
  NetworkExchange network_{
      agent_.context, {.upload = upload_, .withdrawal = withdrawal_}, [this] { ++completed_; }};
  std::unique_ptr<AgentRound> round_;
  std::array<std::array<SharedBytes, kMembers>, 2> payloads_;  // by bucket and member
  std::array<std::vector<SharedBytes>, 2> star_;               // the star's results, by stage
};

TEST_F(NetworkExchangeTest, BucketsGoInTheirOrder) {
  add(1);
  EXPECT_TRUE(requests().empty());
  add(0);
  const auto sent = requests();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].bucket, 0u);
  EXPECT_EQ(sent[1].bucket, 1u);
  EXPECT_EQ(sent[0].aggregator, "10.0.0.1:4650");
  EXPECT_EQ(sent[0].handle, 7u);
  EXPECT_EQ(sent[0].epoch, 3u);
  EXPECT_EQ(sent[0].slot_count, 16u);
  EXPECT_EQ(sent[0].packet_values, 128u);
  EXPECT_EQ(sent[0].agents, kMembers);
  EXPECT_EQ(sent[0].levels.size(), kBucketValues / 2);
  EXPECT_EQ(sent[0].deadline_ns, agent_.context.now + round_->plan().wire().deadline_ms * kNsPerMs);
}

TEST_F(NetworkExchangeTest, ResultsHaveTheBytesOfTheStars) {
  add(0);
  add(1);
  network_.take(summed(0));
  EXPECT_FALSE(network_.complete());
  EXPECT_EQ(completed_, 0);
  network_.take(summed(1));
  EXPECT_EQ(completed_, 1);
  for (std::uint32_t bucket = 0; bucket < 2; ++bucket) {
    const BucketWork& work = round_->work()[bucket];
    ASSERT_EQ(work.combined.size(), 2u);
    EXPECT_EQ(*work.combined[1], *star_[bucket][1]);
  }
  EXPECT_EQ(round_->mechanisms().buckets_in_network, 2u);
  EXPECT_EQ(round_->mechanisms().packets_sent, 6u);
  EXPECT_EQ(round_->mechanisms().packets_repeated, 2u);
  // Each member uploads every second bucket.
  EXPECT_EQ(upload_.bytes(), star_[0][1]->size());
}

TEST_F(NetworkExchangeTest, CombinationsAgreeWithTheOtherMembers) {
  add(0);
  add(1);
  network_.take(summed(0));
  network_.take(summed(1));
  const wire::SumsCheckT check = network_.sums_check();
  const std::array<std::uint64_t, 2> sent = {check.sent, sent_by_the_other()};
  EXPECT_TRUE(in_network::sums_agree(sent, check.got));
}

TEST_F(NetworkExchangeTest, AWrongSumChangesTheCombination) {
  add(0);
  add(1);
  NetworkSummed wrong = summed(0);
  auto sums = std::make_shared<Bytes>(*wrong.sums);
  (*sums)[5] ^= 1;
  wrong.sums = sums;
  network_.take(wrong);
  network_.take(summed(1));
  const wire::SumsCheckT check = network_.sums_check();
  const std::array<std::uint64_t, 2> sent = {check.sent, sent_by_the_other()};
  EXPECT_FALSE(in_network::sums_agree(sent, check.got));
}

TEST_F(NetworkExchangeTest, ARefusalWithdrawsTheAgentAndStopsTheRest) {
  add(0);
  add(1);
  agent_.take();
  network_.take({.id = round_->key(),
                 .bucket = 0,
                 .status = Status(StatusCode::unavailable, {.what = "unknown_job"})});
  EXPECT_TRUE(round_->withdrawn());
  const Actions actions = agent_.take();
  EXPECT_EQ(round_testing::count<StopSums>(actions), 1);
  EXPECT_EQ(round_testing::count<Send>(actions), 1) << "the withdrawal";
  network_.take(summed(1));
  EXPECT_EQ(completed_, 0);
}

TEST_F(NetworkExchangeTest, ASumThatCannotBeWithdrawsTheAgent) {
  add(0);
  NetworkSummed wrong = summed(0);
  auto sums = std::make_shared<Bytes>(*wrong.sums);
  (*sums)[5] = 255;
  wrong.sums = sums;
  network_.take(wrong);
  EXPECT_TRUE(round_->withdrawn());
}

TEST_F(NetworkExchangeTest, AnswersOfAnotherAttemptAreIgnored) {
  add(0);
  add(1);
  NetworkSummed late = summed(0);
  ++late.id.attempt;
  network_.take(late);
  EXPECT_EQ(round_->work()[0].combined.size(), 1u);
  network_.take(summed(0));
  network_.take(summed(0));  // a second time
  EXPECT_EQ(round_->work()[0].combined.size(), 2u);
}

TEST_F(NetworkExchangeTest, TheEndOfTheRoundStopsTheHost) {
  add(0);
  network_.end();
  EXPECT_EQ(stops(), 1);
  network_.end();
  EXPECT_EQ(stops(), 0);
}

}  // namespace
}  // namespace tributary
