// Tests of applying the planner's decisions to a job's policy: a decision changes only its own
// fields, and one that cannot be applied is refused.
#include "core/round/coordinator/job/advice_policy.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/round/coordinator/attempt/active_round_testing.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::begin_round;
using round_testing::JobTest;
using round_testing::kSmallJob;
using round_testing::Packed;
using round_testing::wire_id_of;

// A planned job with three members. The test plays the planner.
class AdvicePolicyTest : public JobTest {
 protected:
  AdvicePolicyTest() {
    policy().planning.goal = wire::PlanGoal::adaptive;
    open_epoch(3);
  }

  static wire::AlternativeT alternative(const std::string& codec, bool chosen = false) {
    wire::AlternativeT one;
    one.codec = codec;
    one.collective = wire::Collective::star;
    one.ratio = 0.1;
    one.chosen = chosen;
    return one;
  }
  static PlanAdvice good_advice() {
    PlanAdvice advice;
    advice.choice = {
        .codec = "topk:cr=0.1", .collective = wire::Collective::star, .bucket_values_max = 1'024};
    advice.trigger = wire::Trigger::link_changed;
    advice.sentence = "the uplink of agent-001 is slow";
    advice.alternatives = {alternative("fp32"), alternative("topk:cr=0.1", true),
                           alternative("int8")};
    advice.inputs = Bytes(3, 7);
    advice.trials = {"int8"};
    advice.trial_s = 0.5;
    advice.pause_s = 2;
    return advice;
  }
  void advise(const std::function<void(PlanAdvice&)>& change = {}) {
    auto advice = std::make_shared<PlanAdvice>(good_advice());
    if (change) change(*advice);
    advice_.advise(std::move(advice), 5);
  }
  // The request for an attempt at this round, with the fields that the decision fills in.
  PlanRequest request(std::uint64_t round, std::uint32_t attempt = 0) {
    PlanRequest request;
    request.key = {.job = kSmallJob, .round = round, .epoch = 1, .attempt = attempt};
    request.trigger = attempt > 0 ? wire::Trigger::after_abort : wire::Trigger::unchanged;
    advice_.complete(request, membership_);
    return request;
  }

  AdvicePolicy advice_{job_};
};

// --- decisions in force ---

TEST_F(AdvicePolicyTest, TheJobsPolicyHoldsBeforeThereIsADecision) {
  EXPECT_FALSE(advice_.advised());
  EXPECT_EQ(&advice_.policy(), &job_.policy());
  EXPECT_EQ(advice_.pause_s(), 0);
  EXPECT_EQ(request(1).reason, PlanRequest().reason);
}

TEST_F(AdvicePolicyTest, ADecisionChangesOnlyItsOwnFields) {
  policy().codecs = {"fp32", "int8"};
  policy().local_steps = 7;
  advise();
  ASSERT_TRUE(advice_.advised());
  EXPECT_EQ(advice_.policy().codec, "topk:cr=0.1");
  EXPECT_TRUE(advice_.policy().codecs.empty());
  EXPECT_EQ(advice_.policy().bucket_values_max, 1'024u);
  EXPECT_EQ(advice_.policy().local_steps, 7u);
  EXPECT_EQ(advice_.pause_s(), 2);
}

TEST_F(AdvicePolicyTest, BucketsAreNotLargerThanTheJobHasThem) {
  advise([](PlanAdvice& advice) { advice.choice.bucket_values_max = 1u << 30; });
  EXPECT_EQ(advice_.policy().bucket_values_max, job_.policy().bucket_values_max);
}

TEST_F(AdvicePolicyTest, AJobThatLeavesNothingToAPlannerIgnoresDecisions) {
  policy().planning.goal = wire::PlanGoal::fixed;
  advise();
  EXPECT_FALSE(advice_.advised());
  EXPECT_TRUE(noted("advice_refused").empty());
}

// --- refused decisions ---

TEST_F(AdvicePolicyTest, ADecisionThatCannotBeCarriedOutIsRefused) {
  const std::vector<std::pair<std::string, std::function<void(PlanAdvice&)>>> wrong = {
      {"codec", [](PlanAdvice& advice) { advice.choice.codec = "made_up"; }},
      {"no trigger", [](PlanAdvice& advice) { advice.trigger = wire::Trigger::unspecified; }},
      {"share above the codec's", [](PlanAdvice& advice) { advice.ratios["agent-000"] = 0.2; }},
      {"shares by peers",
       [](PlanAdvice& advice) {
         advice.choice.collective = wire::Collective::ring;
         advice.ratios["agent-000"] = 0.05;
       }},
      {"codec of an alternative", [](PlanAdvice& advice) { advice.alternatives[0].codec = ""; }},
      {"collective of an alternative",
       [](PlanAdvice& advice) {
         advice.alternatives[0].collective = wire::Collective::unspecified;
       }},
      {"ratio of an alternative", [](PlanAdvice& advice) { advice.alternatives[0].ratio = 1.5; }}};
  for (const auto& [what, change] : wrong) {
    forget_actions();
    advise(change);
    EXPECT_FALSE(advice_.advised()) << what;
    ASSERT_EQ(noted("advice_refused").size(), 1u) << what;
    EXPECT_EQ(actions<Note>()[0].round, 5u);
  }
}

TEST_F(AdvicePolicyTest, AfterARefusalRoundsGoOnAsTheJobHasThem) {
  advise();
  advise([](PlanAdvice& advice) { advice.choice.codec = "made_up"; });
  EXPECT_FALSE(advice_.advised());
  EXPECT_EQ(&advice_.policy(), &job_.policy());
  EXPECT_EQ(advice_.pause_s(), 0);
}

// --- reasons ---

TEST_F(AdvicePolicyTest, TheFirstPlanHasTheWholeReason) {
  advise();
  const PlanRequest first = request(5);
  EXPECT_EQ(first.reason, "the uplink of agent-001 is slow");
  EXPECT_EQ(first.trigger, wire::Trigger::link_changed);
  EXPECT_EQ(first.trials, std::vector<std::string>{"int8"});
  EXPECT_EQ(first.trial_s, 0.5);
  EXPECT_EQ(first.inputs.size(), 3u);
  EXPECT_EQ(first.bucket_values, 1'024u);
  ASSERT_EQ(first.alternatives.size(), 3u);
  EXPECT_EQ(first.alternatives[0].codec, "topk:cr=0.1") << "the chosen one";
  EXPECT_EQ(first.alternatives[1].codec, "fp32");
}

TEST_F(AdvicePolicyTest, LaterPlansNameTheRoundOfTheDecision) {
  advise();
  request(5);
  const PlanRequest later = request(6);
  EXPECT_EQ(later.reason, "as decided in round 5");
  EXPECT_EQ(later.trigger, wire::Trigger::unchanged);
  EXPECT_TRUE(later.trials.empty());
  EXPECT_TRUE(later.inputs.empty());
  ASSERT_EQ(later.alternatives.size(), 1u);
  EXPECT_TRUE(later.alternatives[0].chosen);
}

TEST_F(AdvicePolicyTest, AnotherAttemptAtTheFirstRoundHasTheWholeReasonAndItsOwnTrigger) {
  advise();
  request(5);
  const PlanRequest again = request(5, 1);
  EXPECT_EQ(again.reason, "the uplink of agent-001 is slow");
  EXPECT_EQ(again.trigger, wire::Trigger::after_abort);
}

TEST_F(AdvicePolicyTest, ANewDecisionHasItsOwnWholeReason) {
  advise();
  request(5);
  advise([](PlanAdvice& advice) { advice.sentence = "the link is fast again"; });
  EXPECT_EQ(request(6).reason, "the link is fast again");
  EXPECT_EQ(request(7).reason, "as decided in round 6");
}

TEST_F(AdvicePolicyTest, AReplacementByTheStarHasAReason) {
  advise([](PlanAdvice& advice) { advice.choice.collective = wire::Collective::ring; });
  PlanRequest stands_in;
  stands_in.key.round = 5;
  stands_in.reason = "Use the star: only one agent takes part";
  advice_.complete(stands_in, membership_);
  EXPECT_EQ(stands_in.reason, "Use the star: only one agent takes part");
  EXPECT_TRUE(stands_in.trials.empty());
}

TEST_F(AdvicePolicyTest, APlanHasAtMost32AlternativesAndTheChosenOneIsAmongThem) {
  advise([](PlanAdvice& advice) {
    advice.alternatives.assign(50, alternative("fp32"));
    advice.alternatives.back() = alternative("topk:cr=0.1", true);
  });
  const PlanRequest first = request(5);
  EXPECT_EQ(first.alternatives.size(), 32u);
  EXPECT_TRUE(first.alternatives[0].chosen);
}

// --- shares ---

TEST_F(AdvicePolicyTest, AMemberThatTheDecisionDoesNotNameKeepsTheCodecsShare) {
  advise([](PlanAdvice& advice) { advice.ratios = {{"agent-001", 0.02}, {"stranger", 0.01}}; });
  EXPECT_EQ(request(5).ratios, (std::vector<double>{0.1, 0.02, 0.1}));
}

TEST_F(AdvicePolicyTest, ADecisionWithoutRatiosSetsNone) {
  advise();
  EXPECT_TRUE(request(5).ratios.empty());
}

// --- reports to the planner ---

TEST_F(AdvicePolicyTest, ThePlannerReceivesEachReport) {
  wire::ReportT report;
  report.id = wire_id_of({.job = kSmallJob, .round = 4, .epoch = 1, .attempt = 0});
  report.compute_s = 1.5;
  report.wait_s = 0.5;
  report.bytes_up = 10;
  report.bytes_down = 5;
  report.gain = std::make_unique<wire::GainCurveT>();
  report.gain->ratios = {0.25f};
  report.gain->gains = {0.75f};
  advice_.report_agent(member(1), *Packed(report));
  ASSERT_EQ(actions<AgentReported>().size(), 1u);
  const AgentReported reported = actions<AgentReported>()[0];
  EXPECT_EQ(reported.agent_id, "agent-001");
  EXPECT_EQ(reported.round, 4u);
  EXPECT_EQ(reported.compute_s, 1.5);
  EXPECT_EQ(reported.waited_s, 0.5);
  EXPECT_EQ(reported.hidden_s, 0);
  EXPECT_EQ(reported.bytes, 15u);
  EXPECT_EQ(reported.gains, std::vector<float>{0.75f});
}

TEST_F(AdvicePolicyTest, TrainingAheadIsHiddenByTheWaitForTheCommit) {
  for (const double wait_s : {0.5, 4.0}) {
    wire::ReportT report;
    report.id = wire_id_of({.job = kSmallJob, .round = 4, .epoch = 1, .attempt = 0});
    report.compute_s = 1.5;
    report.wait_s = wait_s;
    report.mechanisms = std::make_unique<wire::MechanismsT>();
    report.mechanisms->trained_ahead = 1;
    advice_.report_agent(member(1), *Packed(report));
    EXPECT_EQ(actions<AgentReported>().back().hidden_s, std::min(wait_s, 1.5));
  }
}

// A decision that arrives while a round is under way is of the next one.
TEST_F(AdvicePolicyTest, ThePlannerReceivesEachCommitAndItsParticipants) {
  advise();
  request(4);
  advise([](PlanAdvice& advice) { advice.choice.codec = "fp16"; });
  const auto round = begin_round(membership_, coordinator_.now, make_plan(4));
  round->members()[1].participates = false;
  RoundRecord record;
  record.id.round = 4;
  record.began_at_ns = coordinator_.now;
  coordinator_.now += 3'000 * kNsPerMs;
  advice_.report_commit(record, *round, membership_, {.peers = true, .aggregator = true});
  ASSERT_EQ(actions<RoundPlayed>().size(), 1u);
  const RoundPlayed reported = actions<RoundPlayed>()[0];
  EXPECT_EQ(reported.rounds_left, 6u);
  EXPECT_EQ(reported.round_s, 3);
  EXPECT_EQ(reported.choice.codec, "topk:cr=0.1");
  EXPECT_TRUE(reported.peers_reachable);
  ASSERT_EQ(reported.participants.size(), 2u);
  EXPECT_EQ(reported.participants[1].agent_id, "agent-002");
}

TEST_F(AdvicePolicyTest, WithoutAPlannerNothingIsReported) {
  policy().planning.goal = wire::PlanGoal::fixed;
  wire::ReportT report;
  report.id = wire_id_of({.job = kSmallJob, .round = 4, .epoch = 1, .attempt = 0});
  advice_.report_agent(member(0), *Packed(report));
  advice_.report_commit({}, *begin_round(membership_, coordinator_.now, make_plan(4)), membership_,
                        {});
  EXPECT_TRUE(coordinator_.out.empty());
}

}  // namespace
}  // namespace tributary
