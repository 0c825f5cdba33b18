// Tests of agents that are always late: they delay no round, and what they train still counts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/round/coordinator/context/stragglers.h"
#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

constexpr std::uint32_t kSlowAgent = 7;
constexpr TimeNs kTraining = 100 * kNsPerMs;

// Eight agents that train for 100 ms.
Options eight_agents(const std::string& codec) {
  Options options;
  options.agents = 8;
  options.rounds = 60;
  options.policy.codec = codec;
  options.policy.agents_min = 4;
  options.policy.grace_ms = 20;
  options.policy.catch_up_wait_ms = 1'000;  // all agents connect before the first round
  options.train_ns = kTraining;
  return options;
}

// True if every bucket of the result contains the agent's contribution.
bool contributed(const CommitRecord& commit, std::uint32_t member) {
  return std::ranges::all_of(commit.round.outcomes, [&](const OutcomeRecord& outcome) {
    const ContributorSetRecord& set = commit.round.contributor_sets[outcome.contributor_set];
    return Bitmap(set.bits, commit.round.members).test(member);
  });
}

// The first round with a contribution of the agent; 0: there is none.
std::uint64_t first_contribution(const Federation& federation, std::uint32_t agent) {
  const auto& commits = federation.journal().commits();
  const auto first = std::ranges::find_if(
      commits, [&](const CommitRecord& commit) { return contributed(commit, agent); });
  return first == commits.end() ? 0 : first->round.id.round;
}

// The largest number of rounds from one contribution of the agent to its next one, after round
// `since`. The first round may have begun without it.
std::uint64_t longest_gap(const Federation& federation, std::uint32_t agent,
                          std::uint64_t since = 0) {
  std::uint64_t gap = 0;
  std::uint64_t last = since;
  for (const CommitRecord& commit : federation.journal().commits()) {
    const std::uint64_t round = commit.round.id.round;
    if (round <= since) continue;
    if (round == 1 && commit.round.members <= agent) last = 1;
    gap = std::max(gap, round - last);
    if (contributed(commit, agent)) last = round;
  }
  return gap;
}

double seconds_of_rounds(const Federation& federation) {
  const auto& commits = federation.journal().commits();
  return static_cast<double>(commits.back().round.committed_at_ns -
                             commits.front().round.began_at_ns) /
         1e9;
}

double longest_round_s(const Federation& federation) {
  TimeNs longest = 0;
  for (const CommitRecord& commit : federation.journal().commits()) {
    longest = std::max(longest, commit.round.committed_at_ns - commit.round.began_at_ns);
  }
  return static_cast<double>(longest) / 1e9;
}

double seconds_without_straggler(const std::string& codec) {
  Federation federation(eight_agents(codec));
  EXPECT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(longest_gap(federation, kSlowAgent), 1u) << "all contribute in every round";
  EXPECT_EQ(federation.noted("agents_late"), 0);
  return seconds_of_rounds(federation);
}

class SlowAgent : public testing::TestWithParam<std::string> {};

TEST_P(SlowAgent, TrainsTenTimesAsLongAndDelaysNoRound) {
  Federation federation(eight_agents(GetParam()));
  federation.host(kSlowAgent).set_train_ns(10 * kTraining);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_LT(seconds_of_rounds(federation), 1.2 * seconds_without_straggler(GetParam()));
  EXPECT_LE(longest_gap(federation, kSlowAgent), 12u);
  EXPECT_EQ(federation.noted("agents_late"), 1) << "it is waited for once";
  EXPECT_NE(federation.log.text("agents_late").find("agent-7"), std::string::npos);
  federation.expect_identical();
  if (GetParam() != "signsgd") federation.expect_conserved(1e-3);
}

INSTANTIATE_TEST_SUITE_P(Codecs, SlowAgent,
                         testing::Values("fp32", "thc:bits=4", "threelc", "topk:cr=0.1", "signsgd"),
                         [](const testing::TestParamInfo<std::string>& one) {
                           return one.param.substr(0, one.param.find(':'));
                         });

struct UplinkCase {
  std::string name;
  double bytes_per_s = 0;  // of the other uplinks
  std::uint64_t values = 0;
  std::uint64_t bucket_values = 1u << 20;
  std::string codec = "fp32";
  std::uint64_t incoming_bytes_max = 16u << 20;  // the coordinator's memory, for all agents
  std::uint64_t gap_max = 12;
  std::uint64_t first_max = 14;  // latest round of the first contribution
  bool conserves = true;
};

// One uplink is ten times slower than the others. Training takes little time beside the uploads.
Options over_uplinks(const UplinkCase& of, double factor) {
  Options options = eight_agents(of.codec);
  options.policy.grace_ms = 50;
  options.policy.bucket_values_max = of.bucket_values;
  options.train_ns = 5 * kNsPerMs;
  options.incoming_bytes_max = of.incoming_bytes_max;
  options.layers = {{.name = "vector", .shape = {of.values}}};
  options.bytes_per_s_of = [of, factor](std::uint32_t agent, bool up) {
    if (!up) return 0.0;
    return agent == kSlowAgent ? of.bytes_per_s / factor : of.bytes_per_s;
  };
  return options;
}

struct UplinkRun {
  double seconds = 0;
  double longest_round_s = 0;
  std::uint64_t first = 0;        // round of the slow agent's first contribution
  std::uint64_t longest_gap = 0;  // from then on
};

UplinkRun run_over_uplinks(const UplinkCase& of, double factor) {
  Federation federation(over_uplinks(of, factor));
  EXPECT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  if (of.conserves) federation.expect_conserved(1e-3);
  const std::uint64_t first = first_contribution(federation, kSlowAgent);
  return {.seconds = seconds_of_rounds(federation),
          .longest_round_s = longest_round_s(federation),
          .first = first,
          .longest_gap = longest_gap(federation, kSlowAgent, first)};
}

void print_uplink_runs(const UplinkRun& even, const UplinkRun& slow) {
  fmt::print(
      "{:.2f} s, {:.2f} s: {:.2f} times as long, contributions from round {} on at most {} rounds "
      "apart\n",
      even.seconds, slow.seconds, slow.seconds / even.seconds, slow.first, slow.longest_gap);
}

// Parts of payloads wait in the queue of the slow uplink, and the agent's reports and
// acknowledgements wait behind them, as on a real link.
class SlowUplink : public testing::TestWithParam<UplinkCase> {};

TEST_P(SlowUplink, OfATenthDelaysNoRoundAndContributes) {
  const UplinkRun even = run_over_uplinks(GetParam(), 1);
  const UplinkRun slow = run_over_uplinks(GetParam(), 10);
  print_uplink_runs(even, slow);
  EXPECT_LE(slow.seconds, 1.2 * even.seconds);
  EXPECT_GT(slow.first, 0u);
  EXPECT_LE(slow.first, GetParam().first_max);
  EXPECT_LE(slow.longest_gap, GetParam().gap_max);
  EXPECT_LE(slow.longest_round_s, 3 * even.longest_round_s) << "no patient round is needed";
}

INSTANTIATE_TEST_SUITE_P(
    Links, SlowUplink,
    testing::Values(
        UplinkCase{.name = "OneBucket", .bytes_per_s = 4e5, .values = 8'250},
        UplinkCase{.name = "ThinLinks", .bytes_per_s = 1e5, .values = 8'250},
        UplinkCase{.name = "LongPayload", .bytes_per_s = 8e5, .values = 80'000},
        UplinkCase{
            .name = "FourBuckets", .bytes_per_s = 4e5, .values = 33'000, .bucket_values = 8'250},
        UplinkCase{
            .name = "FiveBuckets", .bytes_per_s = 8e5, .values = 81'920, .bucket_values = 16'384},
        UplinkCase{
            .name = "EightBuckets", .bytes_per_s = 4e5, .values = 57'750, .bucket_values = 8'250},
        UplinkCase{.name = "TwentyBuckets",
                   .bytes_per_s = 8e5,
                   .values = 81'920,
                   .bucket_values = 4'096,
                   .gap_max = 13},
        // A model of 16 MiB and the default memory, at a fiftieth of their sizes.
        UplinkCase{.name = "LargeModel",
                   .bytes_per_s = 8e5,
                   .values = 81'920,
                   .bucket_values = 20'480,
                   .incoming_bytes_max = 348'160,
                   .gap_max = 13}),
    [](const testing::TestParamInfo<UplinkCase>& one) { return one.param.name; });

UplinkCase uplink_of(const std::string& codec, std::uint64_t first_max) {
  return {.name = codec.substr(0, codec.find(':')),
          .bytes_per_s = 4e5,
          .values = 81'920,
          .bucket_values = 16'384,
          .codec = codec,
          .gap_max = 13,
          .first_max = first_max,
          .conserves = codec != "qsgd" && codec != "signsgd"};
}

std::vector<UplinkCase> uplinks_of_codecs() {
  std::vector<UplinkCase> cases;
  // Each payload says by itself what it contains.
  for (const std::string codec :
       {"bf16", "int8", "threelc", "topk:cr=0.1", "gcomp", "zstd", "qsgd", "signsgd"}) {
    cases.push_back(uplink_of(codec, 14));
  }
  // The late agent sends standalone payloads, after the first payload, which was cut off.
  for (const std::string codec : {"thc:bits=4", "int8_shared", "randk:cr=0.1"}) {
    cases.push_back(uplink_of(codec, 18));
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Codecs, SlowUplink, testing::ValuesIn(uplinks_of_codecs()),
                         [](const testing::TestParamInfo<UplinkCase>& one) {
                           return one.param.name;
                         });

// The uplink takes twelve rounds for a payload, and acknowledgements wait behind it. So the commits
// that the agent lacks are no longer in memory, and it needs the model. The offer must also settle
// the round that the agent has begun since its last report.
TEST(LateAgents, AnAgentThatIsFarBehindKeepsItsSession) {
  Options options = eight_agents("thc:bits=4");
  options.agents = 3;
  options.rounds = 50;
  options.policy.agents_min = 1;
  options.policy.grace_ms = 200;
  options.policy.bucket_values_max = 4'096;
  options.layers = {{.name = "vector", .shape = {48'000}}};
  options.bytes_per_s_of = [](std::uint32_t agent, bool up) {
    return up && agent == 2 ? 2e4 : 0.0;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(federation.noted("agent_refused"), 0) << federation.log.text("agent_refused");
  EXPECT_GT(first_contribution(federation, 2), 0u);
  EXPECT_LE(first_contribution(federation, 2), 30u);
  federation.expect_identical();
}

TEST(LateAgents, AnAgentThatIsFastAgainIsAwaitedAgain) {
  Federation federation(eight_agents("fp32"));
  federation.host(kSlowAgent).set_train_ns(10 * kTraining);
  ASSERT_TRUE(federation.run_rounds(20)) << federation.describe();
  federation.host(kSlowAgent).set_train_ns(kTraining + 5 * kNsPerMs);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  const auto& commits = federation.journal().commits();
  EXPECT_TRUE(std::all_of(commits.begin() + 40, commits.end(),
                          [](const auto& commit) { return contributed(commit, kSlowAgent); }));
  federation.expect_conserved();
}

// Rounds of a few round trips may end before the announcement of a complete upload arrives. The
// agent then contributes in its patient rounds.
TEST(LateAgents, ASlowUplinkContributesToShortRounds) {
  const UplinkCase of = uplink_of("onebit", 14);
  const UplinkRun even = run_over_uplinks(of, 1);
  const UplinkRun slow = run_over_uplinks(of, 10);
  print_uplink_runs(even, slow);
  EXPECT_GT(slow.first, 0u);
  EXPECT_LE(slow.longest_gap, 12u);
}

// A standalone payload survives a restart of the coordinator, which has forgotten the parts that
// had arrived, and is in the results by which an agent that was away catches up.
TEST(LateAgents, StandalonePayloadsCountAcrossRestarts) {
  const UplinkCase of{.name = "Thc",
                      .bytes_per_s = 8e5,
                      .values = 81'920,
                      .bucket_values = 16'384,
                      .codec = "thc:bits=4"};
  Federation federation(over_uplinks(of, 10));
  ASSERT_TRUE(federation.run_rounds(8)) << federation.describe();
  federation.crash_coordinator();
  federation.start_coordinator();
  ASSERT_TRUE(federation.run_rounds(20)) << federation.describe();
  federation.crash_agent(0);
  ASSERT_TRUE(federation.run_rounds(34)) << federation.describe();
  federation.start_agent(0);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_LE(longest_gap(federation, kSlowAgent), 30u);
  federation.expect_identical();
}

// The payload of a codec whose encoder has to know the round that counts it begins anew in each
// round. A patient round takes it, and as long as that uplink needs.
TEST(LateAgents, AnUplinkThatNeverCarriesAPayloadWithinARoundGetsPatientRounds) {
  const UplinkCase of{.name = "Dgc",
                      .bytes_per_s = 8e5,
                      .values = 81'920,
                      .bucket_values = 16'384,
                      .codec = "dgc:cr=0.1",
                      .conserves = false};
  const UplinkRun even = run_over_uplinks(of, 1);
  const UplinkRun slow = run_over_uplinks(of, 10);
  print_uplink_runs(even, slow);
  EXPECT_GT(slow.first, 0u);
  EXPECT_LE(slow.longest_gap, 12u);
}

// It costs one grace time, and after 11 rounds a patient one.
TEST(LateAgents, AnAgentThatHangsDelaysFewRounds) {
  Options options = eight_agents("fp32");
  options.agents = 3;
  options.rounds = 20;
  options.policy.agents_min = 1;
  Federation federation(options);
  federation.host(2).set_train_ns(3'600'000 * kNsPerMs);
  ASSERT_TRUE(federation.run_rounds(20)) << federation.describe();
  EXPECT_LT(seconds_of_rounds(federation), 20 * 0.12 + 0.2 + Stragglers::kPatience * 0.12);
  EXPECT_EQ(federation.noted("agents_late"), 2);
}

// An exchange among peers needs all participants, so it leaves the late agent out. The star gives
// it its turn.
TEST(LateAgents, PeersLeaveALateAgentOut) {
  Options options = eight_agents("fp32");
  options.peers = true;
  options.policy.collective = wire::Collective::ring;
  options.policy.deadline_ms = 3'000;
  Federation federation(options);
  federation.host(kSlowAgent).set_train_ns(20 * kTraining);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  std::size_t by_ring = 0;
  for (const CommitRecord& commit : federation.journal().commits()) {
    const Result<const wire::Frame*> frame = open_frame(*commit.round.plan);
    ASSERT_TRUE(frame.ok());
    const wire::Plan& plan = *(*frame)->message_as_Plan();
    by_ring += plan.exchanges()->Get(0)->collective() == wire::Collective::ring ? 1u : 0u;
  }
  EXPECT_GE(by_ring, 40u);
  EXPECT_EQ(federation.noted("round_aborted"), 1) << "one exchange waits for it";
  EXPECT_LE(longest_gap(federation, kSlowAgent), 36u);
  federation.expect_identical();
  federation.expect_conserved();
}

TEST(LateAgents, AQuorumOfAllWaitsForAll) {
  Options options = eight_agents("fp32");
  options.rounds = 3;
  options.policy.quorum_fraction = 1;
  Federation federation(options);
  federation.host(kSlowAgent).set_train_ns(10 * kTraining);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(longest_gap(federation, kSlowAgent), 1u);
  EXPECT_EQ(federation.noted("agents_late"), 0);
}

TEST(LateAgents, WithoutAGraceTimeAStageWaitsForItsDeadline) {
  Options options = eight_agents("fp32");
  options.rounds = 3;
  options.policy.grace_ms = 0;
  Federation federation(options);
  federation.host(kSlowAgent).set_train_ns(10 * kTraining);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(longest_gap(federation, kSlowAgent), 1u);
}

}  // namespace
}  // namespace tributary
