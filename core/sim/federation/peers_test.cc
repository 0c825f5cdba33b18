// Tests of rounds in which the agents exchange among themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/sanitized_testing.h"
#include "core/codec/registry.h"
#include "core/net/mesh/reach_group.h"
#include "core/net/mesh/reach_testing.h"
#include "core/sim/federation/mixed_faults_testing.h"

namespace tributary {
namespace {

using reach_testing::kAnotherGroup;
using reach_testing::kDialled;
using reach_testing::kMalformed;
using reach_testing::kOneGroup;
using sim_testing::Federation;
using sim_testing::Options;

struct PeerCase {
  std::string codec;
  wire::Collective collective = wire::Collective::ring;
  double tolerance = 0;
};

Options options_for(const PeerCase& what, std::uint32_t agents = 3) {
  Options options;
  options.agents = agents;
  options.peers = true;
  options.policy.codec = what.codec;
  options.policy.collective = what.collective;
  options.policy.bucket_values_max = 64;
  options.policy.agents_min = 2;
  options.policy.deadline_ms = 2'000;
  options.policy.preliminary_deadline_ms = 1'000;
  return options;
}

// The collectives of the plans of the committed rounds.
std::multiset<wire::Collective> collectives_of(Federation& federation) {
  std::multiset<wire::Collective> used;
  for (const CommitRecord& commit : federation.journal().commits()) {
    const Result<const wire::Frame*> frame = open_frame(*commit.round.plan);
    used.insert((*frame)->message_as_Plan()->exchanges()->Get(0)->collective());
  }
  return used;
}

class PeersWithCodec : public testing::TestWithParam<PeerCase> {};

TEST_P(PeersWithCodec, WithoutFaultsEveryRoundUsesPeers) {
  Federation federation(options_for(GetParam(), 5));
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(GetParam().tolerance);
  EXPECT_EQ(federation.noted("frame_refused"), 0);
  EXPECT_EQ(federation.noted("round_aborted"), 0);
  EXPECT_EQ(collectives_of(federation).count(GetParam().collective), 5u);
  EXPECT_GT(federation.peers.messages, 0u);
}

TEST_P(PeersWithCodec, UpdatesInParts) {
  Options options = options_for(GetParam(), 4);
  options.in_parts = true;
  options.rounds = 8;
  options.loss = 0.05;
  Federation federation(options);
  federation.peers.breaks = 0.005;
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(GetParam().tolerance);
}

TEST_P(PeersWithCodec, ConnectionsThatBreakCostTheRoundNothing) {
  Options options = options_for(GetParam(), 4);
  options.rounds = 12;
  options.loss = 0.05;
  options.repeat = 0.05;
  options.delay_max_ns = 20 * kNsPerMs;
  Federation federation(options);
  federation.peers.breaks = 0.01;
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(GetParam().tolerance);
}

std::vector<PeerCase> peer_cases() {
  std::vector<PeerCase> cases;
  for (const wire::Collective collective :
       {wire::Collective::sharded_star, wire::Collective::ring, wire::Collective::tree,
        wire::Collective::halving_doubling, wire::Collective::all_gather}) {
    cases.push_back({.codec = "fp32", .collective = collective});
    cases.push_back({.codec = "thc", .collective = collective, .tolerance = 1e-4});
    cases.push_back({.codec = "threelc:bypass=0", .collective = collective, .tolerance = 1e-4});
    cases.push_back({.codec = "gcomp", .collective = collective, .tolerance = 1e-4});
    cases.push_back({.codec = "topk:cr=0.1", .collective = collective, .tolerance = 1e-4});
    cases.push_back({.codec = "star_topk:cr=0.1", .collective = collective, .tolerance = 1e-4});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, PeersWithCodec, testing::ValuesIn(peer_cases()),
                         [](const auto& one) {
                           std::string name = one.param.codec.substr(0, one.param.codec.find(':'));
                           return name + "_" + wire::EnumNameCollective(one.param.collective);
                         });

const PeerCase kRing = {.codec = "fp32", .collective = wire::Collective::ring};
const PeerCase kSparseRing = {.codec = "topk:cr=0.1", .collective = wire::Collective::ring};

TEST(PeersInParts, TheLastLayersAreExchangedWhileTheFirstAreComputed) {
  Options options = options_for(kSparseRing);
  options.in_parts = true;
  std::map<std::uint32_t, bool> whole;
  std::size_t early = 0;
  std::size_t late = 0;
  options.before_event = [&](std::uint32_t agent, const Event& event) {
    if (std::holds_alternative<UpdatePart>(event)) whole[agent] = false;
    if (std::holds_alternative<UpdateReady>(event)) whole[agent] = true;
  };
  options.after_event = [&](std::uint32_t agent, const Actions& actions, const Agent&) {
    for (const Action& action : actions) {
      if (std::holds_alternative<SendToPeer>(action)) ++(whole[agent] ? late : early);
    }
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(0);
  EXPECT_EQ(collectives_of(federation).count(wire::Collective::ring), 5u);
  EXPECT_GT(early, 10u);
  EXPECT_GT(late, 10u) << "the first layers come last";
}

// The other members have pieces of an update that never comes. The next attempt uses the star.
TEST(PeersInParts, TrainingThatFailsHalfwayLosesNothing) {
  Options options = options_for(kSparseRing);
  options.in_parts = true;
  options.rounds = 10;
  int given = 0;
  Federation federation(options);
  federation.twist = [&](std::uint32_t i, FloatVector& update) {
    if (i == 1 && ++given % 3 == 0) update[5] = std::nanf("");  // in the part that arrives last
  };
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(0);
  EXPECT_GE(federation.noted("update_refused"), 2);
}

// The longest time from the beginning of a round to its commit, over all its attempts.
TimeNs longest_round(Federation& federation) {
  TimeNs longest = 0;
  TimeNs before = 0;
  for (const CommitRecord& commit : federation.journal().commits()) {
    if (before > 0) longest = std::max(longest, commit.round.committed_at_ns - before);
    before = commit.round.committed_at_ns;
  }
  return longest;
}

class KilledMember : public testing::TestWithParam<std::uint32_t> {};

TEST_P(KilledMember, KilledAtAnyMomentLosesNothing) {
  Options options = options_for(kRing, 4);
  options.rounds = 10;
  Federation federation(options);
  const TimeNs when = (20 + 3 * GetParam()) * kNsPerMs;
  federation.at(when, [&] { federation.crash_agent(1); });
  federation.at(when + 300 * kNsPerMs, [&] { federation.start_agent(1); });
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved();
  EXPECT_LE(longest_round(federation), options.policy.deadline_ms * kNsPerMs);
}

INSTANTIATE_TEST_SUITE_P(Moments, KilledMember, testing::Range(0u, 20u));

TEST(Peers, OneThatFallsSilentCostsHalfTheDeadline) {
  Options options = options_for(kRing, 4);
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(2)) << federation.describe();
  // The training of round 3 may have begun ahead, before this.
  federation.host(2).set_train_ns(1'900 * kNsPerMs);
  ASSERT_TRUE(federation.run_rounds(3)) << federation.describe();
  const TimeNs before = federation.now();
  ASSERT_TRUE(federation.run_rounds(4)) << federation.describe();
  EXPECT_LE(federation.now() - before, 2'000 * kNsPerMs);
  federation.host(2).set_train_ns(5 * kNsPerMs);
  EXPECT_EQ(federation.noted("exchange_overdue"), 1);
  EXPECT_EQ(collectives_of(federation).count(wire::Collective::star), 1u);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved();
}

TEST(Peers, ACoordinatorThatIsKilledFindsThemWhereTheyWere) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    Federation federation(options_for(kRing, 4));
    federation.at((20 + 2 * i) * kNsPerMs, [&] { federation.crash_coordinator(); });
    federation.at((90 + 2 * i) * kNsPerMs, [&] { federation.start_coordinator(); });
    ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
    federation.expect_identical();
    federation.expect_conserved();
  }
}

TEST(Peers, AFalsifiedPieceIsNotApplied) {
  for (const char* codec : {"fp32", "thc", "threelc:bypass=0", "topk:cr=0.1"}) {
    Options options = options_for({.codec = codec}, 4);
    Federation federation(options);
    federation.peers.twist = [&](std::uint32_t from, std::uint32_t, Bytes&, Bytes& payload) {
      if (from == 1 && federation.peers.messages % 5 == 0) payload[payload.size() / 2] ^= 0x10;
    };
    ASSERT_TRUE(federation.run_to_the_end()) << codec << ": " << federation.describe();
    // Sums that are formed on the way reveal a wrong bit there; gathered payloads reveal it by
    // their hash.
    EXPECT_GT(federation.noted("agent_withdrew") + federation.noted("results_differ"), 0) << codec;
    federation.expect_identical();
    federation.expect_conserved(1e-4);
  }
}

TEST(Peers, FramesOfAnotherKindOrRoundAreNotTaken) {
  Federation federation(options_for(kRing, 3));
  federation.peers.twist = [&](std::uint32_t from, std::uint32_t, Bytes& frame, Bytes&) {
    if (from == 2 && federation.peers.messages % 7 == 0) frame[frame.size() / 3] ^= 0x01;
  };
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved();
}

// Expects that every round uses the star and returns the reason of the first one.
std::string reason_for_the_star(const Options& options) {
  Federation federation(options);
  EXPECT_TRUE(federation.run_to_the_end());
  EXPECT_EQ(collectives_of(federation).count(wire::Collective::star), 5u);
  EXPECT_EQ(federation.noted("round_aborted"), 0) << "nobody has to try it first";
  const CommitRecord& commit = federation.journal().commits()[0];
  const Result<const wire::Frame*> frame = open_frame(*commit.round.plan);
  return (*frame)->message_as_Plan()->reason()->sentence()->str();
}

TEST(Peers, AnUnreachableMemberMovesRoundsToTheStarWithAReason) {
  Options options = options_for(kRing, 3);
  options.peers = false;
  EXPECT_EQ(reason_for_the_star(options), "Use the star: agent-0 has no address for peers");
}

TEST(Peers, UnreachablePairsMoveRoundsToTheStarWithAReason) {
  constexpr const char* kEndpoints[][3] = {{kOneGroup[0], kDialled, kOneGroup[1]},
                                           {kOneGroup[0], kAnotherGroup, kOneGroup[2]},
                                           {kOneGroup[0], kMalformed, kOneGroup[2]}};
  const std::string unreachable = "agent-0 and agent-1 are not in " + std::string(kReachGroupName);
  const std::string reasons[] = {unreachable, unreachable,
                                 "agent-1 has an invalid address for peers"};
  for (std::size_t i = 0; i < std::size(kEndpoints); ++i) {
    Options options = options_for(kRing, 3);
    options.endpoint_of = [&](std::uint32_t agent) { return kEndpoints[i][agent]; };
    EXPECT_EQ(reason_for_the_star(options), "Use the star: " + reasons[i]);
  }
}

// A connection that breaks in round 1 costs only that round its ring.
TEST(Peers, AreTriedAgainInTheNextRound) {
  Options options = options_for(kRing, 3);
  options.rounds = 6;
  Federation federation(options);
  ASSERT_TRUE(federation.run([&] { return federation.peers.messages > 3; }));
  federation.peers.cut(0, 1);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(collectives_of(federation).count(wire::Collective::star), 1u);
  EXPECT_EQ(collectives_of(federation).count(wire::Collective::ring), 5u);
  federation.expect_identical();
  federation.expect_conserved();
}

TEST(Peers, UnreachablePeersAreTriedLessOften) {
  Options options = options_for(kRing, 3);
  options.rounds = 40;
  Federation federation(options);
  federation.peers.breaks = 1;
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(collectives_of(federation).count(wire::Collective::star), 40u);
  EXPECT_LE(federation.noted("round_aborted"), 6);
  federation.expect_identical();
  federation.expect_conserved();
}

TEST(Peers, ALateAgentReceivesTheirResult) {
  for (const char* codec : {"fp32", "topk:cr=0.1", "star_topk:cr=0.1"}) {
    Options options = options_for({.codec = codec}, 4);
    options.rounds = 8;
    Federation federation(options);
    federation.set_cut(3, true);
    ASSERT_TRUE(federation.run_rounds(2)) << codec;
    federation.set_cut(3, false);
    ASSERT_TRUE(federation.run_to_the_end()) << codec << ": " << federation.describe();
    federation.expect_identical();
    federation.expect_conserved(1e-4);
  }
}

class SeveralExchanges : public testing::TestWithParam<PeerCase> {
 protected:
  // A codec without a residual sends another sum than that of the updates.
  static void expect_whole(Federation& federation) {
    federation.expect_identical();
    if ((*make_codec(GetParam().codec))->conserves()) {
      federation.expect_conserved(GetParam().tolerance);
    }
  }
};

TEST_P(SeveralExchanges, AreCommittedTogether) {
  Options options = options_for(GetParam(), 4);
  options.policy.exchanges_per_round = 4;
  options.policy.agents_min = 4;
  options.in_parts = true;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  expect_whole(federation);
  EXPECT_EQ(federation.noted("frame_refused"), 0);
  EXPECT_EQ(federation.noted("round_aborted"), 0);
  EXPECT_EQ(collectives_of(federation).count(GetParam().collective), 5u);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(federation.host(i).updates().size(), 20u);
}

TEST_P(SeveralExchanges, LoseNothingIfTheyBreakInTheMiddle) {
  for (std::uint32_t moment = 0; moment < 20; ++moment) {
    Options options = options_for(GetParam(), 4);
    options.policy.exchanges_per_round = 4;
    options.policy.agents_min = 3;
    Federation federation(options);
    const TimeNs when = (20 + 7 * moment) * kNsPerMs;
    if (moment % 3 == 0) {
      federation.at(when, [&] { federation.crash_agent(1); });
      federation.at(when + 300 * kNsPerMs, [&] { federation.start_agent(1); });
    } else {
      federation.at(when, [&] { federation.peers.cut(1, 2); });
    }
    // The others may finish before the agent is back.
    ASSERT_TRUE(federation.run([&] { return federation.now() > when + 301 * kNsPerMs; }));
    ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
    expect_whole(federation);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SeveralExchanges,
    testing::Values(
        PeerCase{.codec = "fp32"}, PeerCase{.codec = "thc", .tolerance = 1e-4},
        PeerCase{.codec = "threelc", .tolerance = 1e-4},
        PeerCase{.codec = "gcomp", .tolerance = 1e-4},
        PeerCase{
            .codec = "topk:cr=0.1", .collective = wire::Collective::all_gather, .tolerance = 1e-4},
        PeerCase{
            .codec = "star_topk:cr=0.1", .collective = wire::Collective::tree, .tolerance = 1e-4},
        PeerCase{.codec = "powersgd",
                 .collective = wire::Collective::halving_doubling,
                 .tolerance = 1e-4},
        PeerCase{.codec = "signsgd"},
        PeerCase{.codec = "qsgd", .collective = wire::Collective::tree},
        PeerCase{.codec = "dgc:cr=0.1", .collective = wire::Collective::all_gather},
        PeerCase{.codec = "thc:range=minmax", .collective = wire::Collective::sharded_star}),
    [](const auto& one) {
      std::string name = one.param.codec;
      std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
      return name;
    });

TEST(Peers, SurviveMixedFaults) {
  for (std::uint64_t seed = 1; seed <= seeds_of(12); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sim_testing::play_mixed(sim_testing::mixed_peer_options(seed));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tributary
