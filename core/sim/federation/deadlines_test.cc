// Tests of deadlines that are too short for the links. The job reports the problem at once and is
// paused, instead of aborting its rounds forever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;
using testing::HasSubstr;

constexpr double kSlow = 10'000;  // bytes per second: an update of 200 kB takes 20 s

// Parts of 4 kB, so that heartbeats can be sent between them.
Options slow_uplink(std::uint32_t agents, std::uint32_t slow_agents) {
  Options options;
  options.agents = agents;
  options.rounds = 3;
  options.policy.agents_min = 2;
  options.policy.quorum_fraction = 1;
  options.policy.deadline_ms = 10'000;
  options.payload_bytes_max = 4'096;
  options.vector_values = 50'000;
  options.bytes_per_s_of = [agents, slow_agents](std::uint32_t agent, bool up) {
    return up && agent >= agents - slow_agents ? kSlow : 0.0;
  };
  return options;
}

wire::JobState state_of(const Federation& federation) {
  const auto jobs = federation.journal().state().jobs;
  return jobs.empty() ? wire::JobState::running : jobs[0].job.state;
}

std::string reason_of(const Federation& federation) {
  return federation.journal().state().jobs.at(0).job.state_reason;
}

TEST(Deadlines, ASlowUplinkIsReportedAtOnceAndPausesTheJob) {
  Federation federation(slow_uplink(2, 1));
  ASSERT_TRUE(federation.run([&] { return federation.noted("deadline_too_short:uplink") > 0; }));
  EXPECT_LT(federation.now(), 5'000 * kNsPerMs) << "long before the deadline";
  EXPECT_EQ(federation.noted("round_aborted"), 0);
  const std::string text = federation.log.text("deadline_too_short");
  EXPECT_THAT(text, HasSubstr("Round 1 cannot collect its updates within its deadline of "
                              "10 s: the uplink of "
                              "agent-1 carries 0.0"));
  EXPECT_THAT(text, HasSubstr("its update of 201 kB takes 2"));
  EXPECT_THAT(text, HasSubstr("deadline_ms = 3"));
  EXPECT_THAT(text, HasSubstr("bits per value"));

  ASSERT_TRUE(federation.run([&] { return state_of(federation) == wire::JobState::paused; }));
  EXPECT_EQ(federation.noted("deadline_too_short"), 2) << "once in each attempt";
  EXPECT_EQ(federation.noted("round_aborted"), 2);
  EXPECT_THAT(reason_of(federation), HasSubstr("Round 1 cannot collect its updates within"));
  EXPECT_FALSE(
      federation.run([&] { return federation.noted("round_aborted") > 2; }, 60'000 * kNsPerMs));
}

TEST(Deadlines, AResumedJobContinuesOverAFasterLink) {
  Federation federation(slow_uplink(2, 1));
  ASSERT_TRUE(federation.run([&] { return state_of(federation) == wire::JobState::paused; }));
  const auto resume = [&](Token command) {
    const std::uint64_t job = federation.journal().state().jobs.at(0).job.job;
    federation.coordinator_host().handle(
        ChangeJob{.command = command, .job = job, .state = wire::JobState::running, .reason = {}});
    return federation.run(
        [&] { return federation.coordinator_host().command_done(command).has_value(); });
  };
  // The link has not changed, so two more attempts fail.
  ASSERT_TRUE(resume(7));
  ASSERT_TRUE(federation.run([&] { return federation.noted("round_aborted") == 4; }));
  ASSERT_TRUE(federation.run([&] { return state_of(federation) == wire::JobState::paused; }));
  federation.set_rate(1, true, 200'000);
  ASSERT_TRUE(resume(8));
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved();
  EXPECT_EQ(federation.noted("round_aborted"), 4);
}

TEST(Deadlines, ADeadlineAsRecommendedFits) {
  Options options = slow_uplink(2, 1);
  options.policy.deadline_ms = 31'000;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(federation.noted("deadline_too_short"), 0);
  EXPECT_EQ(federation.noted("round_aborted"), 0);
}

TEST(Deadlines, AQuorumWithoutTheSlowAgentIsEnough) {
  Options options = slow_uplink(3, 1);
  options.policy.quorum_fraction = 0.6;
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(3)) << federation.describe();
  EXPECT_EQ(federation.noted("deadline_too_short"), 0);
  EXPECT_EQ(state_of(federation), wire::JobState::running);
}

TEST(Deadlines, AJobThatIsPlannedIsNotPaused) {
  Options options = slow_uplink(2, 1);
  options.policy.planning.goal = wire::PlanGoal::adaptive;
  Federation federation(options);
  ASSERT_TRUE(federation.run([&] { return federation.noted("round_aborted") >= 4; }));
  EXPECT_GE(federation.noted("deadline_too_short"), 4);
  EXPECT_EQ(state_of(federation), wire::JobState::running);
}

TEST(Deadlines, AFailureForAnotherReasonPausesNothing) {
  Options options = slow_uplink(2, 0);
  options.train_ns = 30'000 * kNsPerMs;
  options.rounds = 1;
  Federation federation(options);
  ASSERT_TRUE(federation.run([&] { return federation.noted("round_aborted") >= 2; }));
  EXPECT_EQ(federation.noted("deadline_too_short"), 0);
  EXPECT_EQ(state_of(federation), wire::JobState::running);
}

// A download continues in the next attempt, so the job is slow, reports the reason and is not
// paused.
TEST(Deadlines, ASlowDownlinkIsReportedAndPausesNothing) {
  Federation federation(slow_uplink(2, 0));
  ASSERT_TRUE(federation.run([&] { return federation.coordinator().current_round().round == 1; }));
  federation.set_rate(1, false, kSlow);
  ASSERT_TRUE(federation.run([&] { return federation.noted("deadline_too_short:downlink") > 0; }))
      << federation.describe();
  EXPECT_THAT(federation.log.text("deadline_too_short"), HasSubstr("the downlink of agent-1"));
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(state_of(federation), wire::JobState::finished);
}

}  // namespace
}  // namespace tributary
