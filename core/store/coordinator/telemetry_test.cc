// Telemetry: the rows that are kept, their lifetime, and the view of a reader of the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/base/clock.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/testing/describe_testing.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"
#include "schemas/frame.h"

namespace tributary::store_testing {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

class Telemetry : public testing::Test {
 protected:
  void open(const Retention& retention = {}) {
    journal_.reset();
    auto journal = CoordinatorJournal::open(
        {.journal = {.path = folder_ / "run.db", .durability = Durability::stop, .clock = &clock_},
         .retention = retention});
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    journal_ = std::move(*journal);
  }

  std::int64_t now() const { return wall_time_ns(clock_); }

  // Adds this many events, one second apart.
  void add_events(int count, const std::string& text = "what happened") {
    for (int i = 0; i < count; ++i) {
      clock_.advance(std::chrono::seconds(1));
      TelemetryRows rows;
      DatedNote& event = rows.events.emplace_back();
      event.at_wall_ns = now();
      event.note.name = "frame_refused";
      event.note.reason = "wrong_session";
      event.note.text = text;
      event.note.round = ++events_;
      ASSERT_EQ(journal_->add(rows).text(), "ok");
    }
  }

  std::vector<std::uint64_t> rounds_of_events() {
    auto file = RunFile::open(folder_ / "run.db");
    EXPECT_TRUE(file.ok()) << file.status().text();
    std::vector<std::uint64_t> rounds;
    const std::vector<StoredEvent> events = *(*file)->events(0, 100'000);
    for (const StoredEvent& event : events) rounds.push_back(event.round);
    return rounds;
  }

  Folder folder_;
  ManualClock clock_;
  std::unique_ptr<CoordinatorJournal> journal_;
  std::uint64_t events_ = 0;
};

TEST_F(Telemetry, IsReadWhileTheCoordinatorRuns) {
  open();
  TelemetryRows rows;
  DatedNote& event = rows.events.emplace_back();
  event.at_wall_ns = now();
  event.note = {.level = LogLevel::warning,
                .name = "agent_lost",
                .reason = "silent",
                .source = "agent-1",
                .text = "no heartbeat for 5 s",
                .job = 7,
                .round = 9};
  rows.metrics.push_back(
      {now(), {.name = "round_s", .value = 0.5, .job = 7, .round = 9, .agent_id = ""}});
  rows.metrics.push_back({now(),
                          {.name = "round_s",
                           .value = std::numeric_limits<double>::quiet_NaN(),
                           .agent_id = "agent-1"}});
  rows.link_samples.push_back({.at_wall_ns = now(),
                               .from = "agent-1",
                               .to = "",
                               .method = wire::LinkMethod::active,
                               .alpha_s = 0.02,
                               .beta_s_per_byte = 1e-8,
                               .confidence = 0.9});
  ASSERT_EQ(journal_->add(rows).text(), "ok");

  auto file = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(file.ok()) << file.status().text();
  const auto events = *(*file)->events(0, 10);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].at_wall_ns, now());
  EXPECT_EQ(events[0].level, LogLevel::warning);
  EXPECT_EQ(events[0].name + events[0].reason + events[0].source, "agent_lostsilentagent-1");
  EXPECT_EQ(events[0].text, "no heartbeat for 5 s");
  EXPECT_EQ(events[0].job, 7u);
  EXPECT_TRUE((*file)->events(events[0].number, 10)->empty());

  const auto metrics = *(*file)->metrics("round_s", 0, 10);
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].value, 0.5);
  EXPECT_TRUE(std::isnan(metrics[1].value));
  EXPECT_EQ(metrics[1].agent_id, "agent-1");
  EXPECT_TRUE((*file)->metrics("other", 0, 10)->empty());

  const auto samples = *(*file)->link_samples(0, 10);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].sample.from, "agent-1");
  EXPECT_EQ(samples[0].sample.method, wire::LinkMethod::active);
  EXPECT_EQ(samples[0].sample.beta_s_per_byte, 1e-8);

  // The next call sees rows that were added meanwhile.
  add_events(1);
  EXPECT_EQ((*file)->events(events[0].number, 10)->size(), 1u);
}

TEST_F(Telemetry, KeepsNoMoreRowsThanTheLimit) {
  Retention retention;
  retention.events.rows_max = 10;
  open(retention);
  add_events(25);
  EXPECT_THAT(rounds_of_events(), testing::ElementsAre(16, 17, 18, 19, 20, 21, 22, 23, 24, 25));
}

TEST_F(Telemetry, KeepsNothingOlderThanTheLimit) {
  Retention retention;
  retention.events.age_ns_max = 5 * kSecondNs;
  open(retention);
  add_events(20);
  EXPECT_THAT(rounds_of_events(), testing::ElementsAre(15, 16, 17, 18, 19, 20));
}

TEST_F(Telemetry, KeepsNoMoreBytesThanTheLimit) {
  Retention retention;
  retention.events.bytes_max = 20'000;
  open(retention);
  add_events(200, std::string(900, 'x'));
  const std::vector<std::uint64_t> kept = rounds_of_events();
  EXPECT_THAT(kept.size(), testing::AllOf(testing::Ge(15u), testing::Le(20u)));
  EXPECT_EQ(kept.back(), 200u);
  const std::uint64_t size = journal_->database().file_bytes();
  add_events(1000, std::string(900, 'x'));
  EXPECT_LE(journal_->database().file_bytes(), size + 64 * 1024) << "the file grows on";
}

// Limits also apply to rows that were stored before the journal was opened.
TEST_F(Telemetry, LimitsApplyToRowsOfAnEarlierRun) {
  open();
  add_events(50);
  Retention retention;
  retention.events.rows_max = 3;
  open(retention);
  add_events(1);
  EXPECT_THAT(rounds_of_events(), testing::ElementsAre(49, 50, 51));
}

TEST_F(Telemetry, CutsLongTextsBetweenCharacters) {
  open();
  add_events(1, std::string(kTelemetryTextBytesMax - 1, 'x') + "\xc3\xa4 and more");
  auto file = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->events(0, 1)->front().text, std::string(kTelemetryTextBytesMax - 1, 'x'));
}

TEST_F(Telemetry, RefusesTooManyRowsAtATime) {
  open();
  TelemetryRows rows;
  rows.metrics.resize(kTelemetryRowsMax + 1);
  EXPECT_EQ(journal_->add(rows).code(), StatusCode::invalid_argument);
}

// The readable columns of jobs, rounds, plans and agents.
class Run : public Telemetry {
 protected:
  static SharedBytes frame(wire::FrameT frame) {
    frame.message_id = 1;
    frame.session = 1;
    const Result<Bytes> bytes = build_frame(frame);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    return bytes.ok() ? std::make_shared<Bytes>(*bytes) : nullptr;
  }

  static SharedBytes plan_frame() {
    wire::PlanT plan;
    plan.id = std::make_unique<wire::RoundId>(7, 1, 1, 0);
    plan.plan = 1;
    plan.purpose = wire::Purpose::train;
    plan.agents = 2;
    plan.weight = 1;
    plan.weight_sum = 2;
    plan.divisor = wire::DivisorRule::contributors;
    plan.quorum = 1;
    plan.deadline_ms = 500;
    plan.preliminary_deadline_ms = 400;
    plan.local_steps = 1;
    plan.learning_rate = 1;
    auto exchange = std::make_unique<wire::ExchangeT>();
    exchange->codec = "fp32";
    exchange->aggregation = wire::Aggregation::sum;
    exchange->collective = wire::Collective::star;
    exchange->ratio = 1;
    exchange->payload_bytes = 4096;
    auto stage = std::make_unique<wire::StageT>();
    stage->name = "sum";
    stage->combine = wire::Combine::sum;
    exchange->stages.push_back(std::move(stage));
    plan.exchanges.push_back(std::move(exchange));
    auto bucket = std::make_unique<wire::BucketT>();
    bucket->values = 4;
    plan.buckets.push_back(std::move(bucket));
    plan.groups.emplace_back(0, 1);
    plan.reason = std::make_unique<wire::ReasonT>();
    plan.reason->trigger = wire::Trigger::link_changed;
    plan.reason->sentence = "the link of agent-1 lost half of its rate";
    return frame(frame_with(std::move(plan)));
  }

  void store_a_round() {
    NewJobRecord job;
    job.job.job = job.checkpoint.job = 7;
    ASSERT_EQ(journal_->store(job).text(), "ok");
    ASSERT_EQ(journal_->store(EpochRecord{7, 1, 1, {{"agent-1", 1}, {"agent-2", 1}}}).text(), "ok");
    CommitRecord commit;
    commit.round.id = {7, 1, 1, 0};
    commit.round.plan = plan_frame();
    commit.round.committed_at_ns = 2 * kSecondNs;
    commit.round.model_hash = 0xabc;
    commit.round.contributor_sets.push_back({{3}, 2, 2});
    AgentRoundRecord& report = commit.reports.emplace_back();
    report.decode_s = 0.25;
    report.id = commit.round.id;
    report.agent_id = "agent-2";
    report.loss = std::numeric_limits<double>::quiet_NaN();
    report.examples = 32;
    report.mechanisms = std::make_shared<const Bytes>(Bytes{1, 2, 3});
    commit.mechanisms = std::make_shared<const Bytes>(Bytes{4, 5});
    ASSERT_EQ(journal_->store(commit).text(), "ok");
  }
};

TEST_F(Run, SaysWhyAPlanIsAsItIs) {
  open();
  store_a_round();
  auto file = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(file.ok()) << file.status().text();
  std::string trigger;
  std::string sentence;
  std::string codecs;
  std::string collectives;
  std::string hash;
  std::int64_t contributors = 0;
  double seconds = 0;
  const auto found = (*file)->database().first(
      "SELECT trigger_name, sentence, codecs, collectives, model_hash, contributors, seconds "
      "FROM round_overview WHERE job = 7",
      std::tie(trigger, sentence, codecs, collectives, hash, contributors, seconds));
  ASSERT_TRUE(found.ok()) << found.status().text();
  EXPECT_EQ(trigger, "link_changed");
  EXPECT_EQ(sentence, "the link of agent-1 lost half of its rate");
  EXPECT_EQ(codecs, "fp32");
  EXPECT_EQ(collectives, "star");
  EXPECT_EQ(hash, "0000000000000abc");
  EXPECT_EQ(contributors, 2);
  EXPECT_EQ(seconds, 2);
}

TEST_F(Run, ListsJobsRoundsReportsAndAgents) {
  open();
  store_a_round();
  AgentRecord agent;
  agent.agent_id = "agent-1";
  agent.build = "0.1";
  agent.connected = true;
  ASSERT_EQ(journal_->store(AgentRecords{{agent}}).text(), "ok");
  auto file = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(file.ok()) << file.status().text();
  EXPECT_EQ((*file)->jobs()->front().job, 7u);
  EXPECT_EQ((*file)->rounds(7, 1, 100)->size(), 1u);
  const auto reports = *(*file)->agent_rounds(7, 1);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].agent_id, "agent-2");
  EXPECT_TRUE(std::isnan(reports[0].loss));
  EXPECT_EQ(reports[0].examples, 32u);
  EXPECT_TRUE(std::isnan(reports[0].decode_s)) << "the next report tells it";
  EXPECT_TRUE(std::isnan(reports[0].gain)) << "it was not asked";
  ASSERT_NE(reports[0].mechanisms, nullptr);
  EXPECT_EQ(*reports[0].mechanisms, (Bytes{1, 2, 3}));
  const SharedBytes of_round = *(*file)->round_mechanisms(7, 1);
  ASSERT_NE(of_round, nullptr);
  EXPECT_EQ(*of_round, (Bytes{4, 5}));
  EXPECT_EQ(*(*file)->round_mechanisms(7, 2), nullptr) << "no such round";
  const auto agents = *(*file)->agents();
  ASSERT_EQ(agents.size(), 2u);
  EXPECT_TRUE(agents[0].connected);
  EXPECT_EQ(agents[0].build, "0.1");
  EXPECT_FALSE(agents[1].connected) << "it has reported, and that is all that is known of it";

  open();
  EXPECT_FALSE((*file)->agents()->front().connected) << "after a restart nobody is, yet";
}

// Agents send wait and bytes of a round with their next report, possibly rounds later.
TEST_F(Run, WaitAndBytesStandAtTheRoundToWhichTheyBelong) {
  open();
  store_a_round();
  const auto store = [&](std::uint64_t round, std::uint32_t attempt, double wait_s,
                         std::uint64_t bytes) {
    CommitRecord commit;
    commit.round.id = {7, round, 1, attempt};
    commit.round.plan = plan_frame();
    commit.round.contributor_sets.push_back({{3}, 2, 2});
    // The report on an attempt that failed tells the same as the report on the one that did not.
    for (std::uint32_t tried = 0; tried <= attempt; ++tried) {
      AgentRoundRecord& report = commit.reports.emplace_back();
      report.id = {7, round, 1, tried};
      report.agent_id = "agent-2";
      report.compute_s = static_cast<double>(round);
      report.wait_s = wait_s;
      report.bytes_up = bytes;
    }
    ASSERT_EQ(journal_->store(commit).text(), "ok");
  };
  store(2, 0, 0.1, 10);
  store(4, 1, 0.2, 20);
  store(5, 0, 0.4, 40);
  store(6, 0, 0, 0);  // the agent was restarted
  store(7, 0, 0.6, 60);
  auto file = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(file.ok()) << file.status().text();
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> bytes;
  const auto all = *(*file)->agent_rounds(7, 1, 7);
  for (const AgentRoundRecord& report : all) {
    bytes[{report.id.round, report.id.attempt}] = report.bytes_up;
  }
  using BytesOfAttempts = decltype(bytes);
  EXPECT_EQ(bytes, (BytesOfAttempts{{{1, 0}, 10},
                                    {{2, 0}, 20},
                                    {{4, 0}, 0},
                                    {{4, 1}, 40},
                                    {{5, 0}, 0},
                                    {{6, 0}, 60},
                                    {{7, 0}, 0}}));
  const auto second = *(*file)->agent_rounds(7, 2);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].compute_s, 2);
  EXPECT_EQ(second[0].wait_s, 0.2);
  EXPECT_TRUE(std::isnan((*file)->agent_rounds(7, 7)->front().wait_s));
}

TEST_F(Run, AReaderCannotWrite) {
  open();
  auto file = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE((*file)->database().run("DELETE FROM events").ok());
}

// A reader without write permission for the folder cannot create lock files.
TEST_F(Run, IsReadWhereNothingCanBeWrittenBesideIt) {
  open();
  add_events(3);
  journal_.reset();
  std::filesystem::remove(folder_ / "run.db.lock");
  ASSERT_FALSE(std::filesystem::exists(folder_ / "run.db-wal")) << "a clean stop is one file";
  const std::filesystem::path folder = std::filesystem::path(folder_ / "run.db").parent_path();
  std::filesystem::permissions(folder, std::filesystem::perms(0555));
  EXPECT_EQ(rounds_of_events().size(), 3u);
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
}

// Opening a file that does not exist must not create it.
TEST_F(Run, IsNotMadeByLookingForIt) {
  const auto file = RunFile::open(folder_ / "nothing.db");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "nothing.db"));
}

}  // namespace
}  // namespace tributary::store_testing
