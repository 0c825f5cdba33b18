// Tests of rounds with a planner: how the machine uses advice, and what it reports to a planner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/sanitized_testing.h"
#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;
using testing::HasSubstr;
using testing::StartsWith;

std::shared_ptr<PlanAdvice> advice(std::string codec, wire::Collective collective,
                                   std::uint64_t bucket_values = 64) {
  auto made = std::make_shared<PlanAdvice>();
  made->choice = {
      .codec = std::move(codec), .collective = collective, .bucket_values_max = bucket_values};
  made->trigger = wire::Trigger::link_changed;
  made->sentence = "because the line has changed";
  wire::AlternativeT other;
  other.codec = "bf16";
  other.collective = wire::Collective::star;
  wire::AlternativeT chosen = other;
  chosen.codec = made->choice.codec;
  chosen.collective = collective;
  chosen.chosen = true;
  made->alternatives = {other, chosen};
  made->inputs = Bytes(17, std::uint8_t{'i'});
  return made;
}

Options planned(std::uint64_t rounds = 6) {
  Options options;
  options.rounds = rounds;
  options.peers = true;
  options.policy.planning.goal = wire::PlanGoal::adaptive;
  options.policy.agents_min = 2;
  options.policy.deadline_ms = 2'000;
  options.policy.preliminary_deadline_ms = 1'000;
  return options;
}

std::vector<wire::PlanT> plans_of(Federation& federation) {
  std::vector<wire::PlanT> plans;
  for (const CommitRecord& commit : federation.journal().commits()) {
    const Result<const wire::Frame*> frame = open_frame(*commit.round.plan);
    (*frame)->message_as_Plan()->UnPackTo(&plans.emplace_back());
  }
  return plans;
}

TEST(Planned, RoundsGoAsAdvisedFromTheNextOneOnAndSayWhy) {
  Options options = planned();
  options.advise = [](const RoundPlayed& round) {
    return round.round == 1 ? advice("fp16", wire::Collective::ring, 40) : nullptr;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  const std::vector<wire::PlanT> plans = plans_of(federation);
  ASSERT_EQ(plans.size(), 6u);
  EXPECT_EQ(plans[0].exchanges[0]->codec, "fp32");
  EXPECT_EQ(plans[0].exchanges[0]->collective, wire::Collective::star);
  // Round 2 had begun before the advice was ready.
  const wire::PlanT& first = plans[2];
  EXPECT_EQ(first.exchanges[0]->codec, "fp16");
  EXPECT_EQ(first.exchanges[0]->collective, wire::Collective::ring);
  EXPECT_LE(first.buckets[0]->values, 64u);
  EXPECT_EQ(first.reason->sentence, "because the line has changed");
  EXPECT_EQ(first.reason->trigger, wire::Trigger::link_changed);
  EXPECT_EQ(first.reason->alternatives.size(), 2u);
  EXPECT_EQ(first.reason->inputs.size(), 17u);
  const wire::PlanT& later = plans[4];
  EXPECT_EQ(later.exchanges[0]->codec, "fp16");
  EXPECT_EQ(later.reason->sentence, "as decided in round 3");
  EXPECT_EQ(later.reason->trigger, wire::Trigger::unchanged);
  ASSERT_EQ(later.reason->alternatives.size(), 1u);
  EXPECT_TRUE(later.reason->alternatives[0]->chosen);
  EXPECT_TRUE(later.reason->inputs.empty());
}

// Agents would refuse the plan, and the round would never begin.
TEST(Planned, AdviceThatDoesNotSayWhyIsRefused) {
  std::vector<std::shared_ptr<PlanAdvice>> wrong;
  for (int i = 0; i < 5; ++i) wrong.push_back(advice("fp16", wire::Collective::star));
  wrong[0]->trigger = wire::Trigger::unspecified;
  wrong[1]->trigger = static_cast<wire::Trigger>(static_cast<int>(wire::Trigger::MAX) + 1);
  wrong[2]->alternatives[0].codec.clear();
  wrong[3]->alternatives[1].collective = wire::Collective::unspecified;
  wrong[4]->alternatives[0].ratio = std::nan("");
  Options options = planned(wrong.size() + 2);
  options.advise = [&](const RoundPlayed& round) {
    return wrong[(round.round - 1) % wrong.size()];
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_GE(federation.noted("advice_refused"), static_cast<int>(wrong.size()));
  for (const wire::PlanT& plan : plans_of(federation)) {
    EXPECT_EQ(plan.exchanges[0]->codec, "fp32");
  }
}

TEST(Planned, APlannerReceivesEveryRoundAndEveryReport) {
  Federation federation(planned());
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  ASSERT_EQ(federation.log.played.size(), 6u);
  const RoundPlayed& round = federation.log.played[3];
  EXPECT_EQ(round.round, 4u);
  EXPECT_EQ(round.rounds_left, 2u);
  EXPECT_EQ(round.values, federation.values());
  EXPECT_EQ(round.participants.size(), 3u);
  EXPECT_GT(round.round_s, 0);
  EXPECT_TRUE(round.peers_reachable);
  EXPECT_EQ(round.choice.codec, "fp32");
  ASSERT_GE(federation.log.reported.size(), 15u);
  for (const AgentReported& report : federation.log.reported) {
    ASSERT_EQ(report.ratios.size(), report.gains.size());
    ASSERT_FALSE(report.ratios.empty());
    for (std::size_t i = 1; i < report.gains.size(); ++i) {
      EXPECT_GE(report.gains[i], report.gains[i - 1]);
      EXPECT_LE(report.gains[i], 1);
    }
  }
}

// The planner separates the upload of the results from the exchange by these waits.
TEST(Planned, APlannerLearnsHowLongAgentsWaitedForTheCommit) {
  Options options = planned();
  options.policy.collective = wire::Collective::ring;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  std::size_t known = 0;
  for (const AgentReported& report : federation.log.reported) {
    if (report.round == 1) {
      EXPECT_EQ(report.waited_s, 0) << "it is that of the round before";
    }
    known += report.waited_s > 0 ? 1u : 0u;
    EXPECT_LT(report.waited_s, federation.log.played[0].round_s * 2);
  }
  EXPECT_GE(known, 4u) << "the last one to report may wait for nothing";
}

// Reports for people: the decoding time on the agent's device and the gain of its ratio.
TEST(Planned, ReportsAreStoredWithDecodingAndGain) {
  Options options = planned();
  options.policy.codec = "topk:cr=0.1";
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  std::size_t seen = 0;
  for (const CommitRecord& commit : federation.journal().commits()) {
    for (const AgentRoundRecord& report : commit.reports) {
      if (report.id.round > 1) {
        EXPECT_GT(report.decode_s, 0) << "of the round before";
      }
      if (std::isnan(report.gain)) continue;  // the report arrived after the end of the round
      ++seen;
      EXPECT_GT(report.gain, 0.1) << "the largest have more than their share";
      EXPECT_LT(report.gain, 1);
    }
  }
  EXPECT_GE(seen, 10u);
}

TEST(Planned, AJobThatLeavesNothingOpenReportsNothingAndTakesNoAdvice) {
  Options options = planned();
  options.policy.planning = {};
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(1));
  const std::uint64_t job = federation.coordinator().jobs()[0].job;
  federation.coordinator_host().handle(
      PlanAdvised{.job = job, .advice = advice("fp16", wire::Collective::star)});
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_TRUE(federation.log.played.empty());
  EXPECT_TRUE(federation.log.reported.empty());
  for (const wire::PlanT& plan : plans_of(federation)) {
    EXPECT_EQ(plan.exchanges[0]->codec, "fp32");
    EXPECT_FALSE(plan.gain_wanted);
  }
}

TEST(Planned, AdviceThatCannotBeCarriedOutIsNotedAndLeft) {
  Options options = planned();
  options.advise = [](const RoundPlayed& round) {
    switch (round.round) {
      case 1:
        return advice("no_such_codec", wire::Collective::star);
      default:
        return advice("fp16", wire::Collective::in_network);
    }
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_GE(federation.noted("advice_refused"), 4);
  for (const wire::PlanT& plan : plans_of(federation)) {
    EXPECT_EQ(plan.exchanges[0]->codec, "fp32");
  }
}

TEST(Planned, WithoutAddressesTheStarIsUsed) {
  Options options = planned();
  options.peers = false;
  options.advise = [](const RoundPlayed&) { return advice("fp16", wire::Collective::ring); };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_FALSE(federation.log.played.back().peers_reachable);
  const wire::PlanT last = plans_of(federation).back();
  EXPECT_EQ(last.exchanges[0]->codec, "fp16");
  EXPECT_EQ(last.exchanges[0]->collective, wire::Collective::star);
  EXPECT_THAT(last.reason->sentence, StartsWith("Use the star: "));
}

TEST(Planned, RoundsWaitForOneAnotherWhereThatIsAdvised) {
  Options options = planned(4);
  options.advise = [](const RoundPlayed&) {
    auto made = advice("fp16", wire::Collective::star);
    made->pause_s = 100;
    return made;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_GT(federation.now(), 2 * 100 * TimeNs{1'000'000'000});
}

// Codec, collective and buckets change after every round while all kinds of faults happen.
TEST(Planned, NothingIsLostUnderAnyDecisionsAndFaults) {
  const std::vector<std::string> codecs = {"fp32", "thc",          "threelc:bypass=0", "gcomp",
                                           "fp16", "topk:cr=0.05", "star_topk:cr=0.05"};
  std::size_t with_shares = 0;
  for (std::uint64_t seed = 1; seed <= seeds_of(12); ++seed) {
    Options options = planned(30);
    options.seed = seed;
    options.agents = 4;
    options.loss = 0.05;
    options.repeat = 0.05;
    options.delay_max_ns = 20 * kNsPerMs;
    options.advise = [&codecs, seed](const RoundPlayed& round) {
      const StreamKey key = stream_key({.job_seed = seed, .purpose = DrawPurpose::jitter});
      const std::uint32_t draw = random_bits(key, static_cast<std::uint32_t>(round.round));
      auto made =
          advice(codecs[draw % codecs.size()], static_cast<wire::Collective>(1 + (draw >> 8) % 6),
                 16 + (draw >> 16) % 200);
      made->trials = {codecs[(draw >> 20) % codecs.size()], "thc:bits=4"};
      made->trial_s = 0.05;
      if (made->choice.codec.starts_with("topk")) {
        // For all or some agents; the others keep the codec's share.
        made->choice.collective = wire::Collective::star;
        for (std::uint32_t i = 0; i < round.participants.size(); ++i) {
          const std::uint32_t bits = (draw >> (4 + 3 * i)) & 7;
          if (bits > 0) made->ratios[round.participants[i].agent_id] = 0.05 / (1 << bits);
        }
      }
      return made;
    };
    Federation federation(options);
    federation.peers.breaks = 0.01;
    ASSERT_TRUE(federation.run_to_the_end()) << seed << ": " << federation.describe();
    federation.expect_identical();
    federation.expect_conserved(1e-4);
    std::set<std::string> used;
    for (const wire::PlanT& plan : plans_of(federation)) {
      used.insert(plan.exchanges[0]->codec);
      with_shares += plan.exchanges[0]->ratios.empty() ? 0u : 1u;
    }
    EXPECT_GE(used.size(), 5u) << seed;
  }
  EXPECT_GE(with_shares, seeds_of(12));
}

}  // namespace
}  // namespace tributary
