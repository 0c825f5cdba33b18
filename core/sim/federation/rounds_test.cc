// Tests of whole rounds: results, reports, crashes, updates in parts, and any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/bytes/checksum.h"
#include "core/base/thread_pool.h"
#include "core/codec/registry.h"
#include "core/optimizer/schedule.h"
#include "core/round/common/plan/mechanisms.h"
#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

struct CodecCase {
  std::string spec;
  double tolerance;  // relative to the updates' magnitude; 0: exact
};

Options round_options(const std::string& codec) {
  Options options;
  options.policy.codec = codec;
  options.policy.bucket_values_max = 128;
  options.policy.agents_min = 2;
  options.policy.deadline_ms = 2'000;
  options.policy.preliminary_deadline_ms = 1'000;
  return options;
}

class RoundsWithCodec : public testing::TestWithParam<CodecCase> {};

TEST_P(RoundsWithCodec, PerfectChannel) {
  Federation federation(round_options(GetParam().spec));
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(GetParam().tolerance);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_GE(federation.host(i).updates().size(), 4u);
  EXPECT_EQ(federation.noted("frame_refused"), 0);
  EXPECT_EQ(federation.noted("round_aborted"), 0);
  for (const CommitRecord& commit : federation.journal().commits()) {
    for (const ContributorSetRecord& set : commit.round.contributor_sets) {
      EXPECT_EQ(set.contributors,
                federation.journal().epoch(commit.round.id.epoch)->members.size());
    }
  }
}

TEST_P(RoundsWithCodec, LossyChannel) {
  Options options = round_options(GetParam().spec);
  options.loss = 0.1;
  options.repeat = 0.1;
  options.delay_max_ns = 30 * kNsPerMs;
  options.rounds = 8;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(GetParam().tolerance);
}

// On a perfect channel no byte is sent twice, so both sides count the same bytes.
TEST(RoundsWithReports, ReportTheUseOfTimeAndBytes) {
  Federation federation(round_options("fp32"));
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  const std::vector<CommitRecord>& commits = federation.journal().commits();
  std::size_t compared = 0;
  std::map<std::uint64_t, std::set<std::string>> reported;
  for (const CommitRecord& commit : commits) {
    for (const AgentRoundRecord& report : commit.reports) {
      const std::uint64_t number = report.id.round;
      reported[number].insert(report.agent_id);
      EXPECT_GT(report.encode_s, 0);
      if (!reported[number - 1].contains(report.agent_id)) continue;  // it has just joined
      ++compared;
      const RoundRecord& before = commits[number - 2].round;
      ASSERT_EQ(before.id.round, number - 1);
      EXPECT_GT(report.bytes_up, federation.values() * sizeof(float));
      EXPECT_EQ(report.bytes_up * before.members, before.bytes_up);
      EXPECT_GT(report.bytes_down, federation.values() * sizeof(float));
      EXPECT_LE(report.bytes_down * before.members, before.bytes_down) << "asked for again, late";
      EXPECT_GT(report.wait_s, 0);
      EXPECT_LT(report.wait_s, 2);
    }
  }
  EXPECT_GT(compared, 0u);
}

TEST_P(RoundsWithCodec, UpdatesInParts) {
  Options options = round_options(GetParam().spec);
  options.in_parts = true;
  options.loss = 0.05;
  options.rounds = 8;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(GetParam().tolerance);
}

// The order of messages shows that the training does not wait for the commit.
TEST(RoundsAhead, TrainingBeginsBeforeTheCommitOfTheRoundBefore) {
  for (const bool ahead : {false, true}) {
    Options options = round_options("fp32");
    options.rounds = 10;
    options.train_ahead = ahead;
    std::map<std::uint32_t, std::uint64_t> committed;
    std::uint32_t before = 0;
    std::uint32_t after = 0;
    options.before_event = [&](std::uint32_t agent, const Event& event) {
      const auto* frame = std::get_if<FrameReceived>(&event);
      Bytes aligned;
      if (!frame) return;
      if (const auto opened = open_frame(frame->frame, aligned); opened.ok()) {
        const wire::Commit* commit = (*opened)->message_as_Commit();
        if (commit) committed[agent] = std::max(committed[agent], commit->model_version());
      }
    };
    options.after_event = [&](std::uint32_t agent, const Actions& actions, const Agent&) {
      for (const Action& action : actions) {
        const auto* train = std::get_if<Train>(&action);
        if (train) ++(train->model_version > committed[agent] ? before : after);
      }
    };
    Federation federation(options);
    ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
    federation.expect_identical();
    federation.expect_conserved(0);
    // An agent may join after the first round.
    EXPECT_EQ(before > 0, ahead);
    EXPECT_GE(before, ahead ? options.agents * (options.rounds - 2) : 0u);
    EXPECT_GE(after, ahead ? 1u : options.agents * (options.rounds - 1));
    EXPECT_LE(before + after, options.agents * options.rounds) << "nothing is trained twice";
  }
}

TEST(RoundsInParts, LastLayersAreSentWhileTheFirstAreComputed) {
  Options options = round_options("topk:cr=0.1");
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
      const auto* sent = std::get_if<Send>(&action);
      if (!sent || !wire::GetFrame(sent->frame.data())->message_as_Update()) continue;
      ++(whole[agent] ? late : early);
    }
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_conserved(0);
  EXPECT_GT(early, 10u);
  EXPECT_GT(late, 10u) << "the first layers come last";
}

// The part of an incomplete update that is in the residual already is contributed nevertheless.
TEST(RoundsInParts, TrainingThatFailsHalfwayLosesNothing) {
  Options options = round_options("topk:cr=0.1");
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

// The optimizer's state is part of the replica and survives crashes and transfers.
TEST(RoundsWithOptimizer, ReplicasStayIdenticalThroughCrashes) {
  for (const auto kind : {wire::OptimizerKind::momentum, wire::OptimizerKind::adam}) {
    Options options;
    options.rounds = 12;
    options.loss = 0.05;
    options.change_job = [kind](wire::JobT& job) {
      job.mode = wire::ExchangeMode::gradient;
      job.optimizer->kind = kind;
      job.optimizer->momentum = 0.5;
      job.optimizer->beta1 = 0.5;
      job.optimizer->beta2 = 0.75;
      job.optimizer->epsilon = 1e-3;
      job.schedule = "step:every=4,factor=0.5";
    };
    Federation federation(options);
    ASSERT_TRUE(federation.run_rounds(3)) << federation.describe();
    federation.crash_agent(1);
    ASSERT_TRUE(federation.run_rounds(6)) << federation.describe();
    federation.crash_coordinator();
    federation.start_coordinator();
    federation.start_agent(1);
    ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
    federation.expect_identical();
    EXPECT_EQ(federation.noted("replica_diverged"), 0);
  }
}

std::string case_name(const testing::TestParamInfo<CodecCase>& info) {
  std::string name = info.param.spec;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Codecs, RoundsWithCodec,
                         testing::Values(CodecCase{"fp32", 0}, CodecCase{"topk:cr=0.1", 0},
                                         CodecCase{"thc", 1e-5}, CodecCase{"threelc", 1e-5},
                                         CodecCase{"star_topk", 1e-6}, CodecCase{"powersgd", 1e-4},
                                         CodecCase{"int8", 1e-5}),
                         case_name);

// All gradients arrive in one round. A smaller rate in later rounds must not reduce the part that
// waits in a residual, on the agents or in the aggregator, whose residual also survives a crash.
TEST(RoundsWithSchedule, AResidualMovesTheModelByItsFullUpdate) {
  Options options = round_options("threelc:s=1.75,bypass=0");
  options.agents = 4;
  options.policy.agents_min = 4;
  options.rounds = 9;
  const std::string schedule = "step:every=2,factor=0.5";
  options.change_job = [&](wire::JobT& job) {
    job.mode = wire::ExchangeMode::gradient;
    job.schedule = schedule;
  };
  Federation federation(options);
  std::vector<double> meant(federation.values(), 0.0);
  federation.twist = [&](std::uint32_t agent, FloatVector& gradient) {
    const bool first = federation.agent(agent).model_version() == 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = first ? static_cast<float>((i * (agent + 3)) % 17) - 8 : 0.0f;
      meant[i] += static_cast<double>(gradient[i]) / 4;
    }
  };
  ASSERT_TRUE(federation.run_rounds(4)) << federation.describe();  // the next round has a new rate
  federation.crash_coordinator();
  federation.start_coordinator();
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();

  const SharedFloats held = federation.coordinator().aggregator_residual();
  ASSERT_NE(held, nullptr);
  EXPECT_TRUE(std::ranges::any_of(*held, [](float value) { return value != 0; }));
  const double rate = scheduled_rate(*parse_schedule(schedule), 1, options.rounds, options.rounds);
  for (std::size_t i = 0; i < federation.values(); ++i) {
    double waiting = static_cast<double>((*held)[i]);
    for (std::uint32_t agent = 0; agent < 4; ++agent) {
      waiting += static_cast<double>((*federation.agent(agent).residual())[i]);
    }
    const double moved = 0.5 - static_cast<double>((*federation.coordinator().model())[i]);
    ASSERT_NEAR(moved + rate * waiting / 4, meant[i], 1e-5) << "value " << i;
  }
}

// The journal shows which agents work for a job while it runs.
TEST(Rounds, AgentsAreRecordedWithTheirJobWhileTheyServeIt) {
  Options options = round_options("fp32");
  options.rounds = 6;
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(2)) << federation.describe();
  const std::uint64_t job = federation.coordinator().current_round().job;
  ASSERT_NE(job, 0u);
  ASSERT_EQ(federation.journal().agents().size(), 3u);
  for (const auto& [id, agent] : federation.journal().agents()) {
    EXPECT_EQ(agent.job, job) << id;
    EXPECT_TRUE(agent.connected) << id;
  }
  federation.crash_agent(0);
  federation.start_agent(0);  // its journal contains the job
  ASSERT_TRUE(federation.run_rounds(4)) << federation.describe();
  EXPECT_EQ(federation.journal().agents().at("agent-0").job, job);
}

std::uint64_t bytes_read(const Federation& federation, ReadingKind kind, std::uint64_t round) {
  std::uint64_t bytes = 0;
  for (const Reading& reading : federation.log.readings) {
    if (reading.kind == kind && reading.round == round) {
      bytes += static_cast<std::uint64_t>(reading.value);
    }
  }
  return bytes;
}

TEST(Rounds, EachReportsTheBytesOfItsMessagesByUse) {
  Options options = round_options("fp32");
  options.rounds = 4;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  const std::uint64_t model = federation.values() * sizeof(float);
  for (std::uint64_t round = 1; round <= 4; ++round) {
    EXPECT_GT(bytes_read(federation, ReadingKind::up_updates_bytes, round), 3 * model)
        << "of three agents";
    EXPECT_LT(bytes_read(federation, ReadingKind::up_updates_bytes, round), 6 * model)
        << "in frames";
    EXPECT_GT(bytes_read(federation, ReadingKind::down_aggregates_bytes, round), 3 * model);
    EXPECT_GT(bytes_read(federation, ReadingKind::down_plans_bytes, round), 0u);
    EXPECT_GT(bytes_read(federation, ReadingKind::down_commits_bytes, round), 0u)
        << "of this round";
    EXPECT_GT(bytes_read(federation, ReadingKind::up_control_bytes, round), 0u);
    EXPECT_EQ(bytes_read(federation, ReadingKind::down_updates_bytes, round), 0u)
        << "no agent gets them";
    EXPECT_EQ(bytes_read(federation, ReadingKind::up_aggregates_bytes, round), 0u);
  }
  EXPECT_GT(bytes_read(federation, ReadingKind::down_models_bytes, 1), 3 * model)
      << "to begin with";
  EXPECT_EQ(bytes_read(federation, ReadingKind::down_models_bytes, 3), 0u);
  for (const Reading& reading : federation.log.readings) {
    if (facts_of(reading.kind).unit == ReadingUnit::bytes) {
      EXPECT_GT(reading.value, 0) << reading_name(reading.kind);
    }
  }
}

// The bytes of an agent that is lost stay in the totals.
TEST(Rounds, BytesOfALostAgentAreReportedToo) {
  Options options = round_options("fp32");
  options.rounds = 6;
  options.policy.agents_min = 2;
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(2)) << federation.describe();
  const auto models = [&] {
    std::uint64_t bytes = 0;
    for (std::uint64_t round = 1; round <= 6; ++round) {
      bytes += bytes_read(federation, ReadingKind::down_models_bytes, round);
    }
    return bytes;
  };
  EXPECT_GT(models(), 3 * federation.values() * sizeof(float));
  federation.crash_agent(0);
  federation.host(0).journal.state = {};
  federation.start_agent(0);
  ASSERT_TRUE(federation.run([&] { return federation.agent(0).model_version() > 0; }));
  federation.crash_agent(0);
  ASSERT_TRUE(federation.run_rounds(6)) << federation.describe();
  EXPECT_GT(models(), 4 * federation.values() * sizeof(float));
}

std::uint64_t repeated(const std::vector<Reading>& readings) {
  std::uint64_t bytes = 0;
  for (const Reading& reading : readings) {
    if (facts_of(reading.kind).group != ReadingGroup::repeated) continue;
    bytes += static_cast<std::uint64_t>(reading.value);
  }
  return bytes;
}

TEST(Rounds, NothingIsSentTwiceOverAPerfectChannel) {
  Federation federation(round_options("fp32"));
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(repeated(federation.log.readings), 0u);
  EXPECT_EQ(repeated(federation.log.agent_readings), 0u);
}

// Both sides count the bytes that they send or receive again.
TEST(Rounds, BothSidesReportRepeatedBytes) {
  Options options = round_options("fp32");
  options.rounds = 8;
  options.loss = 0.1;
  options.repeat = 0.1;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  for (const std::vector<Reading>* readings :
       {&federation.log.readings, &federation.log.agent_readings}) {
    std::set<ReadingKind> kinds;
    for (const Reading& reading : *readings) {
      if (facts_of(reading.kind).group != ReadingGroup::repeated) continue;
      kinds.insert(reading.kind);
      EXPECT_GT(reading.value, 0) << reading_name(reading.kind);
      EXPECT_GT(reading.round, 0u);
    }
    EXPECT_TRUE(kinds.contains(ReadingKind::repeated_up_lost_bytes));
    EXPECT_TRUE(kinds.contains(ReadingKind::repeated_down_lost_bytes));
  }
}

// --- threads ---
// Machines that divide their work among threads send the same bytes and leave the same model as
// with one thread.

constexpr std::uint32_t kThreadsAgents = 2;
constexpr std::uint64_t kThreadsRounds = 2;
// By the star one bucket of three chunks, the last one incomplete. Peers divide a model into eight
// buckets, each of two chunks.
std::vector<LayerShape> layers_for_threads(wire::Collective collective) {
  const std::uint64_t rows = collective == wire::Collective::star ? 300 : 1'060;
  return {{"weight", {rows, 512}}, {"bias", {77}}};
}

// The output of a job: its payloads and models.
struct JobTrace {
  std::vector<std::uint64_t> messages;  // hashes of the agents' messages with payloads
  std::vector<std::uint64_t> results;   // hashes of the committed payloads
  std::vector<std::uint64_t> models;    // after every round
  std::uint32_t threads = 0;            // fact of the last round

  bool operator==(const JobTrace& other) const {
    return messages == other.messages && results == other.results && models == other.models;
  }
};

// Adds the bytes that a message carries, if it is one with a payload.
void trace_message(const Action& action, JobTrace& trace) {
  if (const auto* const sent = std::get_if<Send>(&action); sent && sent->has_payload) {
    trace.messages.push_back(hash64(sent->payload.bytes));
  } else if (const auto* const to_peer = std::get_if<SendToPeer>(&action)) {
    trace.messages.push_back(hash64(to_peer->payload.view()));
  }
}

JobTrace play_job(const std::string& codec, wire::Collective collective, std::size_t threads) {
  ThreadPool pool(threads);
  JobTrace trace;
  Options options;
  options.agents = kThreadsAgents;
  options.rounds = kThreadsRounds;
  options.layers = layers_for_threads(collective);
  options.execution.pool = &pool;
  options.peers = collective != wire::Collective::star;
  options.policy.codec = codec;
  options.policy.collective = collective;
  options.policy.agents_min = kThreadsAgents;
  options.policy.bucket_values_max = 1u << 20;
  options.incoming_bytes_max = 64u << 20;
  // An optimizer with both moments.
  options.change_job = [](wire::JobT& job) { job.strategy = "fedadam:tau=0.01"; };
  options.after_event = [&](std::uint32_t, const Actions& actions, const Agent&) {
    for (const Action& action : actions) trace_message(action, trace);
  };
  Federation federation(options);
  EXPECT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  for (const CommitRecord& commit : federation.journal().commits()) {
    trace.models.push_back(commit.round.model_hash);
    for (const RedoPayload& redo : commit.redo) trace.results.push_back(hash64(*redo.payload));
    const auto facts = unpack_round_mechanisms(*commit.mechanisms);
    EXPECT_TRUE(facts.ok());
    trace.threads = facts->threads;
  }
  return trace;
}

struct ThreadsCase {
  std::string codec;
  wire::Collective collective;
};

std::vector<ThreadsCase> threads_cases() {
  std::vector<ThreadsCase> cases;
  for (const CodecFamily& family : codec_families()) {
    cases.push_back({.codec = std::string(family.name), .collective = wire::Collective::star});
  }
  for (const char* const codec : {"fp32", "thc", "threelc", "gcomp", "topk", "powersgd"}) {
    cases.push_back({.codec = codec, .collective = wire::Collective::ring});
  }
  return cases;
}

class JobsWithThreads : public testing::TestWithParam<ThreadsCase> {};

TEST_P(JobsWithThreads, HaveTheSameBits) {
  const auto& [codec, collective] = GetParam();
  const JobTrace alone = play_job(codec, collective, 1);
  ASSERT_EQ(alone.models.size(), kThreadsRounds);
  EXPECT_FALSE(alone.results.empty());
  EXPECT_EQ(alone.threads, 1u);
  for (const std::size_t threads : {2u, 5u}) {
    const JobTrace together = play_job(codec, collective, threads);
    EXPECT_TRUE(together == alone) << threads << " threads";
    const std::size_t chunks = collective == wire::Collective::star ? 3 : 2;
    EXPECT_GE(together.threads, std::min(threads, chunks));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, JobsWithThreads, testing::ValuesIn(threads_cases()),
                         [](const auto& one) {
                           return one.param.codec + "_" +
                                  wire::EnumNameCollective(one.param.collective);
                         });

}  // namespace
}  // namespace tributary
