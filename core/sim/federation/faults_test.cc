// Tests of faults. Each test breaks something and then checks three things: the job ends, all
// replicas are identical, and no update is lost.
#include <gtest/gtest.h>

#include "core/base/sanitized_testing.h"
#include "core/round/common/plan/mechanisms.h"
#include "core/sim/federation/mixed_faults_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

Options options_for(const std::string& codec = "topk:cr=0.1") {
  Options options;
  options.policy.codec = codec;
  options.policy.bucket_values_max = 128;
  options.policy.agents_min = 1;
  options.policy.deadline_ms = 400;
  options.policy.preliminary_deadline_ms = 200;
  options.policy.retry_after_ms = 20;
  options.policy.checkpoint_rounds = 4;
  return options;
}

void expect_well(Federation& federation, double tolerance = 0) {
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(tolerance);
}

bool in_every_set(const CommitRecord& commit, std::size_t member) {
  for (const ContributorSetRecord& set : commit.round.contributor_sets) {
    if (!Bitmap(set.bits, commit.round.members).test(member)) return false;
  }
  return true;
}

TEST(Faults, ExcludedStragglerKeepsItsUpdate) {
  for (const char* codec : {"fp32", "topk:cr=0.1", "threelc"}) {
    Options options = options_for(codec);
    options.rounds = 6;
    Federation federation(options);
    federation.host(2).set_train_ns(900 * kNsPerMs);  // more than two deadlines
    expect_well(federation, codec == std::string("threelc") ? 1e-5 : 0);
    int excluded = 0;
    for (const CommitRecord& commit : federation.journal().commits()) {
      if (commit.round.members == 3 && !in_every_set(commit, 2)) ++excluded;
    }
    EXPECT_GE(excluded, 3) << codec;
    EXPECT_GE(federation.host(2).updates().size(), 1u) << codec;
  }
}

TEST(Faults, AgentsCrashAnywhere) {
  for (std::uint64_t seed = 1; seed <= seeds_of(20); ++seed) {
    Options options = options_for(seed % 2 == 0 ? "fp32" : "topk:cr=0.1");
    options.seed = seed;
    options.in_parts = seed % 4 < 2;
    options.rounds = 12;
    Federation federation(options);
    for (std::uint32_t crash = 0; crash < 6; ++crash) {
      const std::uint32_t i = crash % 3;
      const TimeNs when = static_cast<TimeNs>(5 + seed + crash * 37) * kNsPerMs + 123'457 * crash;
      federation.at(when, [&federation, i] {
        if (federation.host(i).running()) federation.crash_agent(i);
      });
      federation.at(when + 25 * kNsPerMs, [&federation, i] {
        if (!federation.host(i).running()) federation.start_agent(i);
      });
    }
    ASSERT_TRUE(federation.run([&] { return federation.now() > 300 * kNsPerMs; })) << seed;
    expect_well(federation);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Faults, CoordinatorCrashesAnywhere) {
  for (std::uint64_t seed = 1; seed <= seeds_of(20); ++seed) {
    Options options = options_for(seed % 2 == 0 ? "fp32" : "topk:cr=0.1");
    options.seed = seed;
    options.rounds = 12;
    Federation federation(options);
    for (int crash = 0; crash < 4; ++crash) {
      const TimeNs when =
          static_cast<TimeNs>(8 + crash * 1'400) * kNsPerMs + static_cast<TimeNs>(seed) * 731'000;
      federation.at(when, [&federation] { federation.crash_coordinator(); });
      federation.at(when + 30 * kNsPerMs, [&federation] { federation.start_coordinator(); });
    }
    expect_well(federation);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Faults, EverythingAtOnce) {
  for (std::uint64_t seed = 1; seed <= seeds_of(12); ++seed) {
    sim_testing::play_mixed(sim_testing::mixed_options(seed));
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Faults, DivergedReplicaIsResynchronised) {
  Options options = options_for("fp32");
  options.rounds = 8;
  options.train_ahead = false;  // otherwise the flip is perhaps not in the copy that is committed
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(3));
  // Simulates a bit flip in memory.
  const_cast<FloatVector&>(*federation.agent(1).model())[7] += 1;
  expect_well(federation);
  EXPECT_GE(federation.noted("replica_diverged"), 1);
}

TEST(Faults, AlteredJournalIsResynchronised) {
  Options options = options_for("fp32");
  options.rounds = 8;
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(3));
  federation.crash_agent(1);
  ReplicaRecord& replica = *federation.host(1).journal.state.replica;
  auto model = std::make_shared<FloatVector>(*replica.model);
  (*model)[7] += 1;
  replica.model = model;
  federation.start_agent(1);
  expect_well(federation);
}

TEST(Faults, CutLinkForLongerThanTheDeadline) {
  Options options = options_for();
  options.rounds = 300;
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(2));
  federation.set_cut(0, true);
  federation.at(federation.now() + 2'500 * kNsPerMs, [&] { federation.set_cut(0, false); });
  expect_well(federation);
}

TEST(Faults, NewConnectionOfTheSameProcess) {
  Options options = options_for();
  options.rounds = 40;
  Federation federation(options);
  for (TimeNs ms = 20; ms < 200; ms += 13) {
    federation.at(ms * kNsPerMs, [&] { federation.reconnect_agent(1); });
  }
  expect_well(federation);
}

TEST(Faults, LateJoinAndLeave) {
  Options options = options_for();
  options.rounds = 30;
  options.agents = 4;
  Federation federation(options);
  federation.crash_agent(3);
  ASSERT_TRUE(federation.run_rounds(10));
  federation.start_agent(3);
  federation.host(0).handle(Shutdown{.reason = "going home"});
  ASSERT_TRUE(federation.run([&] { return federation.host(0).finished(); }));
  const std::uint64_t left_at = federation.coordinator().model_version();
  federation.crash_agent(0);
  ASSERT_TRUE(federation.run_rounds(left_at + 3));
  EXPECT_EQ(federation.coordinator().agents().size(), 3u);
  federation.start_agent(0);
  expect_well(federation);
}

TEST(Faults, SmallPartsAndLittleMemory) {
  for (const double loss : {0.0, 0.1}) {
    Options options = options_for("fp32");
    options.rounds = 6;
    options.payload_bytes_max = 64;
    options.incoming_bytes_max = 1'500;  // two payloads of 128 values
    options.loss = loss;
    options.delay_max_ns = 3 * kNsPerMs;
    options.policy.deadline_ms = 5'000;
    options.policy.agents_min = 3;
    Federation federation(options);
    expect_well(federation);
    std::uint32_t most = 0;
    for (const CommitRecord& commit : federation.journal().commits()) {
      for (const ContributorSetRecord& set : commit.round.contributor_sets) {
        most = std::max(most, set.contributors);
      }
    }
    EXPECT_EQ(most, 3u);
  }
}

TEST(Faults, FullDisks) {
  Options options = options_for();
  options.rounds = 6;
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(2));
  federation.coordinator_host().fail_stores(4);
  federation.host(1).fail_stores(3);
  expect_well(federation);
  EXPECT_GE(federation.noted("store_failed"), 7);
}

TEST(Faults, NotANumberStaysOutside) {
  Options options = options_for();
  options.rounds = 6;
  Federation federation(options);
  int given = 0;
  federation.twist = [&](std::uint32_t i, FloatVector& update) {
    if (i == 1 && ++given == 2) update[5] = std::nanf("");
  };
  expect_well(federation);
  EXPECT_EQ(federation.noted("update_refused"), 1);
  EXPECT_EQ(federation.noted("agent_withdrew"), 1);
}

TEST(Faults, PauseResumeStop) {
  Options options = options_for();
  options.rounds = 50;
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(5));
  const std::uint64_t job = federation.coordinator().jobs()[0].job;
  federation.coordinator_host().handle(
      ChangeJob{.command = 7, .job = job, .state = wire::JobState::paused, .reason = "lunch"});
  ASSERT_TRUE(
      federation.run([&] { return federation.coordinator_host().command_done(7).has_value(); }));
  const TimeNs paused_at = federation.now();
  ASSERT_TRUE(federation.run([&] { return federation.now() > paused_at + 500 * kNsPerMs; }));
  const std::uint64_t paused = federation.coordinator().model_version();
  ASSERT_TRUE(federation.run([&] { return federation.now() > paused_at + 900 * kNsPerMs; }));
  EXPECT_EQ(federation.coordinator().model_version(), paused);
  federation.coordinator_host().handle(
      ChangeJob{.command = 8, .job = job, .state = wire::JobState::running, .reason = "on"});
  ASSERT_TRUE(federation.run_rounds(paused + 3));
  federation.coordinator_host().handle(
      ChangeJob{.command = 9, .job = job, .state = wire::JobState::stopped, .reason = "enough"});
  ASSERT_TRUE(
      federation.run([&] { return federation.coordinator_host().command_done(9).has_value(); }));
  EXPECT_TRUE(federation.coordinator_host().command_done(9)->ok());
  const std::uint64_t stopped = federation.coordinator().model_version();
  const TimeNs stopped_at = federation.now();
  ASSERT_TRUE(federation.run([&] { return federation.now() > stopped_at + 500 * kNsPerMs; }));
  EXPECT_LE(federation.coordinator().model_version(), stopped + 1);
  EXPECT_EQ(federation.coordinator().jobs()[0].state, wire::JobState::stopped);
}

// An agent is absent for longer than outcomes are kept in memory, so the coordinator reads them
// from the journal.
TEST(Faults, LongAbsenceAsksTheJournal) {
  Options options = options_for();
  options.rounds = 60;
  options.history_rounds_max = 3;
  options.redo_models = 0;
  Federation federation(options);
  ASSERT_TRUE(federation.run([&] {
    return federation.coordinator().model_version() > 3 &&
           !federation.agent(1).undecided().empty() &&
           !federation.host(1).journal.state.undecided.empty();
  }));
  federation.crash_agent(1);
  const std::uint64_t gone_at = federation.coordinator().model_version();
  ASSERT_TRUE(federation.run_rounds(gone_at + 20));
  federation.start_agent(1);
  expect_well(federation);
}

// A federation whose coordinator keeps the results of the last round alone in memory.
Options options_of_journal_results(const std::string& codec) {
  Options options = options_for(codec);
  options.rounds = 40;
  options.redo_models = 30;
  options.redo_bytes_in_memory_max = 0;
  return options;
}

// Counts the models that an agent is offered.
void count_offers(Options& options, std::uint32_t of, int& offers) {
  options.before_event = [of, &offers](std::uint32_t agent, const Event& event) {
    const auto* const frame = std::get_if<FrameReceived>(&event);
    if (!frame || agent != of) return;
    offers += wire::GetFrame(frame->frame.data())->message_type() == wire::Message::TransferOffer;
  };
}

// The sum of all rounds of a list of tallies; of one kind if `of` is given.
std::uint64_t total_of(Federation& federation, Tallies wire::RoundMechanismsT::*list,
                       const std::string& of = {}) {
  std::uint64_t total = 0;
  for (const CommitRecord& commit : federation.journal().commits()) {
    const auto facts = unpack_round_mechanisms(*commit.mechanisms);
    for (const auto& tally : (*facts).*list) {
      if (of.empty() || tally->of == of) total += tally->count;
    }
  }
  return total;
}

// The killed agent returns with the model of its last checkpoint. Checkpoints of the coordinator
// have come meanwhile.
TEST(Faults, AKilledAgentCatchesUpFromTheJournal) {
  for (const char* codec : {"fp32", "topk:cr=0.1", "threelc", "star_topk"}) {
    Options options = options_of_journal_results(codec);
    options.rounds = 80;  // it catches up before the last commit, which has the last facts
    int offers = 0;
    count_offers(options, 1, offers);
    Federation federation(options);
    ASSERT_TRUE(federation.run_rounds(5)) << codec;
    federation.crash_agent(1);
    ASSERT_TRUE(federation.run_rounds(17)) << codec;
    offers = 0;
    federation.start_agent(1);
    expect_well(federation, codec == std::string("threelc") ? 1e-5 : 0);
    using Facts = wire::RoundMechanismsT;
    EXPECT_GE(total_of(federation, &Facts::results_read_for, "agent-1"), 10u) << codec;
    EXPECT_EQ(total_of(federation, &Facts::results_read_of_round),
              federation.coordinator_host().results_read())
        << codec;
    EXPECT_EQ(offers, 0) << codec;
  }
}

TEST(Faults, AnAgentGetsTheModelIfTheJournalCannotBeRead) {
  Options options = options_of_journal_results("topk:cr=0.1");
  int offers = 0;
  count_offers(options, 1, offers);
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(5));
  federation.crash_agent(1);
  ASSERT_TRUE(federation.run_rounds(17));
  offers = 0;
  federation.coordinator_host().fail_reads(1);
  federation.start_agent(1);
  expect_well(federation);
  EXPECT_EQ(offers, 1);
}

TEST(Faults, SameSeedSameStates) {
  const auto play = [] {
    Options options = options_for();
    options.loss = 0.1;
    options.repeat = 0.1;
    options.delay_max_ns = 20 * kNsPerMs;
    Federation federation(options);
    EXPECT_TRUE(federation.run_to_the_end());
    std::vector<std::uint64_t> hashes = {federation.coordinator().state_hash()};
    for (std::uint32_t i = 0; i < 3; ++i) hashes.push_back(federation.agent(i).state_hash());
    return hashes;
  };
  EXPECT_EQ(play(), play());
}

}  // namespace
}  // namespace tributary
