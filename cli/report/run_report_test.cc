// A journal with a run of eight rounds, and the report made from it.
#include "cli/report/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/report/run_json.h"
#include "cli/report/svg/well_formed_testing.h"
#include "core/base/clock.h"
#include "core/round/common/plan/round_plan.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/testing/folder_testing.h"
#include "schemas/frame.h"

namespace tributary::report {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kJob = 7;
constexpr std::uint32_t kValues = 1000;

// A frame as the journal stores it: with the session and message number of a real one, since the
// checks refuse 0.
SharedBytes kept(wire::FrameT frame) {
  frame.message_id = 1;
  frame.session = 1;
  const Result<Bytes> bytes = build_frame(frame);
  EXPECT_TRUE(bytes.ok()) << bytes.status().text();
  return bytes.ok() ? std::make_shared<Bytes>(*bytes) : nullptr;
}

// The job asks for 20 rounds, so a run of eight is unfinished.
SharedBytes definition(const std::string& name) {
  wire::JobT job;
  job.job = kJob;
  job.revision = 1;
  job.name = name;
  job.state = wire::JobState::running;
  job.mode = wire::ExchangeMode::gradient;
  job.rounds = 20;
  job.weighting = wire::Weighting::equal;
  job.model = std::make_unique<wire::ModelT>();
  job.model->kind = wire::ModelKind::built_in;
  job.model->name = "lenet";
  job.optimizer = std::make_unique<wire::OptimizerT>();
  job.optimizer->kind = wire::OptimizerKind::sgd;
  job.layer_map = std::make_unique<wire::LayerMapT>();
  const LayerMap map = *LayerMap::make({{.name = "weight", .shape = {kValues}}});
  job.layer_map->hash = map.hash();
  auto layer = std::make_unique<wire::LayerT>();
  layer->name = "weight";
  layer->values = kValues;
  layer->shape = {kValues};
  layer->kind = wire::LayerKind::parameter;
  job.layer_map->layers.push_back(std::move(layer));
  return kept(frame_with(std::move(job)));
}

// Two buckets, of which the second is not compressed.
SharedBytes plan(std::uint64_t round, const std::string& codec, wire::Trigger trigger,
                 const std::string& sentence) {
  wire::PlanT plan;
  plan.id = std::make_unique<wire::RoundId>(kJob, round, 1, 0);
  plan.plan = 1;
  plan.purpose = wire::Purpose::train;
  plan.model_version = round - 1;
  plan.agents = 3;
  plan.weight = 1;
  plan.weight_sum = 3;
  plan.divisor = wire::DivisorRule::contributors;
  plan.quorum = 1;
  plan.deadline_ms = 500;
  plan.preliminary_deadline_ms = 400;
  plan.local_steps = 1;
  plan.learning_rate = 1;
  for (const std::string& each : {codec, std::string("raw")}) {
    auto exchange = std::make_unique<wire::ExchangeT>();
    exchange->codec = each;
    exchange->aggregation = wire::Aggregation::sum;
    exchange->collective = wire::Collective::star;
    exchange->ratio = 1;
    exchange->payload_bytes = 4096;
    auto stage = std::make_unique<wire::StageT>();
    stage->name = "sum";
    stage->combine = wire::Combine::sum;
    exchange->stages.push_back(std::move(stage));
    plan.exchanges.push_back(std::move(exchange));
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto bucket = std::make_unique<wire::BucketT>();
    bucket->first_value = i == 0 ? 0 : 900;
    bucket->values = i == 0 ? 900 : 100;
    bucket->exchange = i;
    plan.buckets.push_back(std::move(bucket));
    plan.groups.emplace_back(i, 1);
  }
  plan.reason = std::make_unique<wire::ReasonT>();
  plan.reason->trigger = trigger;
  plan.reason->sentence = sentence;
  return kept(frame_with(std::move(plan)));
}

// Writes a journal step by step on a manual clock and makes the report from it. The job's name and
// an agent's id contain angle brackets, to show that every text is escaped.
class RunReportTest : public testing::Test {
 protected:
  void open() {
    auto journal = CoordinatorJournal::open(
        {.journal = {.path = run_db(), .durability = Durability::stop, .clock = &clock_}});
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    journal_ = std::move(*journal);
  }
  std::string run_db() { return folder_ / "run.db"; }
  std::string out() { return folder_ / "out"; }

  void store_job(std::uint64_t number = kJob, const std::string& name = "digits <1>") {
    NewJobRecord job;
    job.job.job = job.checkpoint.job = number;
    job.job.definition = definition(name);
    ASSERT_EQ(journal_->store(job).text(), "ok");
  }

  // Round r takes r seconds and sends 300 bytes up. In round 5 the third agent is late.
  void store_rounds(std::uint64_t rounds) {
    ASSERT_EQ(journal_->store(EpochRecord{kJob, 1, 1, {{"a", 1}, {"b", 1}, {"<c>", 1}}}).text(),
              "ok");
    std::int64_t at_ns = 0;
    for (std::uint64_t r = 1; r <= rounds; ++r) {
      clock_.advance(std::chrono::seconds(r));
      CommitRecord commit;
      RoundRecord& round = commit.round;
      round.id = {kJob, r, 1, 0};
      round.members = 3;
      round.buckets = 2;
      round.began_at_ns = at_ns;
      round.committed_at_ns = at_ns += static_cast<std::int64_t>(r) * 1'000'000'000;
      round.bytes_up = 300;
      round.bytes_down = 600;
      round.contributor_sets.push_back({{7}, 3, 3});
      round.contributor_sets.push_back({{3}, 2, 2});
      const std::uint32_t set = r == 5 ? 1 : 0;
      round.outcomes = {{0, set, 1}, {1, set, 2}};
      const bool late = r >= 4;
      round.plan = plan(r, late ? "int8" : "fp32",
                        r == 4 ? wire::Trigger::link_changed : wire::Trigger::unchanged,
                        r == 4 ? "the link of <c> lost half of its rate" : "as before");
      for (const std::string agent : {"a", "b"}) {
        AgentRoundRecord& report = commit.reports.emplace_back();
        report.id = round.id;
        report.agent_id = agent;
        report.loss = agent == "a" ? 2.0 / static_cast<double>(r) : 0;
        report.compute_s = 0.25;
        report.wait_s = static_cast<double>(r - 1) / 10;  // of the round before
        report.examples = 32;
      }
      ASSERT_EQ(journal_->store(commit).text(), "ok");
      if (r % 2 == 0) add_metric("evaluation_accuracy", static_cast<double>(r) / 10, r);
    }
  }

  // A reading without an agent is the coordinator's: an evaluation on the job's test set.
  void add_metric(std::string_view name, double value, std::uint64_t round,
                  const std::string& agent = "") {
    TelemetryRows rows;
    rows.metrics.push_back(
        {wall_time_ns(clock_),
         {.name = name, .value = value, .job = kJob, .round = round, .agent_id = agent}});
    ASSERT_EQ(journal_->add(rows).text(), "ok");
  }

  void add_event(std::string_view name, LogLevel level, const std::string& text) {
    TelemetryRows rows;
    rows.events.push_back(
        {wall_time_ns(clock_), {.level = level, .name = name, .text = text, .job = kJob}});
    ASSERT_EQ(journal_->add(rows).text(), "ok");
  }

  RunReport report(const std::string& job = "") {
    auto made = write_report({.run_file = run_db(), .folder = out(), .job = job});
    EXPECT_TRUE(made.ok()) << made.status().text();
    return made.ok() ? std::move(*made) : RunReport();
  }

  std::string read(const std::string& name) {
    std::ifstream file(std::filesystem::path(out()) / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> lines(const std::string& name) {
    std::istringstream file(read(name));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  store_testing::Folder folder_;
  ManualClock clock_;
  std::unique_ptr<CoordinatorJournal> journal_;
};

// Every figure follows from store_rounds() by hand. Dense bytes are 4 bytes per value for each
// contributor: three agents in seven rounds and two in round 5.
TEST_F(RunReportTest, TheFiguresAreThoseOfTheJournal) {
  open();
  store_job();
  store_rounds(8);
  add_event("round_aborted", LogLevel::warning, "quorum");
  add_metric("conservation_error", 1e-7, 8, "a");
  add_metric("conservation_error", 3e-7, 8, "b");
  const RunFigures figures = report().figures;
  EXPECT_EQ(figures.job_name, "digits <1>");
  EXPECT_EQ(figures.rounds, 8u);
  EXPECT_EQ(figures.rounds_configured, 20u);
  EXPECT_EQ(figures.wall_s, 36) << "1 + 2 + … + 8";
  EXPECT_EQ(figures.agents, 3u);
  EXPECT_EQ(figures.accuracy_final, 0.8);
  EXPECT_FALSE(figures.evaluated_by_agents);
  EXPECT_FALSE(figures.loss_final);
  EXPECT_EQ(figures.train_loss_final, 0.125) << "the mean of 2/8 and 0";
  EXPECT_EQ(figures.bytes_up, 8u * 300);
  EXPECT_EQ(figures.bytes_down, 8u * 600);
  EXPECT_EQ(figures.bytes_dense_up, 4u * kValues * (7 * 3 + 2)) << "two in round 5";
  EXPECT_EQ(figures.bytes_dense_down, 4u * kValues * 8 * 3);
  EXPECT_EQ(figures.contributions_asked, 24u);
  EXPECT_EQ(figures.contributions_missed, 1u);
  EXPECT_EQ(figures.codecs,
            (std::map<std::string, std::uint64_t>{{"fp32", 3}, {"int8", 5}, {"raw", 8}}));
  EXPECT_EQ(figures.collectives, (std::map<std::string, std::uint64_t>{{"star", 8}}));
  EXPECT_EQ(figures.main_codec, "int8") << "raw is in more rounds, with a tenth of the values";
  ASSERT_EQ(figures.switches.size(), 1u);
  EXPECT_EQ(figures.switches[0].round, 4u);
  EXPECT_EQ(figures.switches[0].at_s, 6);
  EXPECT_EQ(figures.switches[0].from, "fp32 + raw, star");
  EXPECT_EQ(figures.switches[0].to, "int8 + raw, star");
  EXPECT_EQ(figures.switches[0].trigger, "link_changed");
  EXPECT_TRUE(figures.replicas_identical);
  EXPECT_EQ(figures.aborts, 1u);
  EXPECT_EQ(figures.conservation_error_max, 3e-7);

  const nlohmann::ordered_json json = json_of(figures);
  EXPECT_EQ(json["bytes_dense"], 4 * kValues * (23 + 24));
  EXPECT_EQ(json["switches"][0]["reason"], "the link of <c> lost half of its rate");
  EXPECT_TRUE(json["loss_final"].is_null());
}

// Round 5 lasts from second 10 to second 15, because the rounds before it took 1 + 2 + 3 + 4 s.
// Metrics have 4 accuracies and, from two agents, 16 losses.
TEST_F(RunReportTest, TheTablesHaveALineForEachRoundAndReading) {
  open();
  store_job();
  store_rounds(8);
  report();
  const std::vector<std::string> rounds = lines("rounds.csv");
  ASSERT_EQ(rounds.size(), 9u);
  EXPECT_EQ(rounds[5],
            "5,0,10.000000,15.000000,5.000000,3,3,2,300,600,8000,12000,int8 + raw,star,1,"
            "unchanged,as before,2,0.2,0.250000,0.000000,0.500000,0000000000000000");
  const std::vector<std::string> metrics = lines("metrics.csv");
  EXPECT_THAT(metrics, Contains("evaluation_accuracy,4,10.000000,,0.4"));
  EXPECT_THAT(metrics, Contains("agent_loss,4,10.000000,a,0.5"));
  EXPECT_EQ(metrics.size(), 1u + 4 + 16);
  EXPECT_THAT(lines("switches.csv"),
              Contains("1,4,6.000000,\"fp32 + raw, star\",\"int8 + raw, star\",link_changed,the "
                       "link of <c> lost half of its rate"));
}

// A browser must show the report offline, and texts from agents must not become markup.
TEST_F(RunReportTest, ThePageAndThePicturesAreWellFormedAndNeedNothingElse) {
  open();
  store_job();
  store_rounds(8);
  add_event("frame_refused", LogLevel::warning, "<script>alert(\"x\")</script> & more");
  TelemetryRows rows;
  for (int i = 0; i < 10; ++i) {
    for (const std::string agent : {"a", "b", "<c>"}) {
      rows.link_samples.push_back({.at_wall_ns = wall_time_ns(clock_) - i * 2'000'000'000LL,
                                   .from = {},
                                   .to = agent,
                                   .method = wire::LinkMethod::passive,
                                   .alpha_s = 0.01,
                                   .beta_s_per_byte = 8e-7,
                                   .confidence = 1});
    }
  }
  ASSERT_EQ(journal_->add(rows).text(), "ok");
  const RunReport made = report();
  std::size_t pictures = 0;
  for (const std::string& file : made.files) {
    const std::string name = std::filesystem::path(file).filename();
    if (name.ends_with(".csv")) continue;
    const std::string text = read(name);
    EXPECT_EQ(xml_complaint(text), "") << name;
    EXPECT_THAT(text, Not(HasSubstr("<script"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("nan"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("href"))) << name;
    if (name.ends_with(".svg")) ++pictures;
  }
  EXPECT_EQ(pictures, 7u);
  const std::string page = read("report.html");
  EXPECT_THAT(page, HasSubstr("digits &lt;1&gt;"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("80.0 %"));
  EXPECT_THAT(page, HasSubstr("10.0 Mbit/s")) << "1/β";
  EXPECT_THAT(page, HasSubstr("The agents have not measured the time for encoding."));
}

// The picture is embedded as base64 ("Zm9vYmFy" is "foobar"), so that the page can be sent as one
// file. A picture that is missing is an error, not a gap.
TEST_F(RunReportTest, PicturesOfAnotherProgramAreInThePage) {
  open();
  store_job();
  store_rounds(2);
  std::filesystem::create_directories(out());
  std::ofstream(std::filesystem::path(out()) / "o.png", std::ios::binary) << "foobar";
  ReportOptions options = {.run_file = run_db(), .folder = out()};
  options.pictures = {{.title = "Who <learns>", .file = "o.png"}};
  const auto made = write_report(options);
  ASSERT_TRUE(made.ok()) << made.status().text();
  const std::string page = read("report.html");
  EXPECT_EQ(xml_complaint(page), "");
  EXPECT_THAT(page, HasSubstr("alt=\"Who &lt;learns&gt;\" src=\"data:image/png;base64,Zm9vYmFy\""));
  EXPECT_THAT(made->files, Contains(made->page));
  EXPECT_THAT(made->files.front(), testing::EndsWith("report.html"));
  EXPECT_THAT(made->files, Contains(testing::EndsWith("o.png")));

  options.pictures[0].file = "none.png";
  EXPECT_FALSE(write_report(options).ok());
}

// First a job without a definition or round, then a round without a plan, report or reading. The
// page names each kind of missing data instead of showing zeros.
TEST_F(RunReportTest, MissingDataIsReported) {
  open();
  NewJobRecord without_definition;
  without_definition.job.job = without_definition.checkpoint.job = kJob;
  ASSERT_EQ(journal_->store(without_definition).text(), "ok");
  const std::string empty = (report(), read("report.html"));
  EXPECT_THAT(empty, HasSubstr("No round of this job has been committed"));
  EXPECT_EQ(xml_complaint(empty), "");
  EXPECT_EQ(lines("rounds.csv").size(), 1u);

  ASSERT_EQ(journal_->store(EpochRecord{kJob, 1, 1, {{"a", 1}}}).text(), "ok");
  CommitRecord commit;
  commit.round.id = {kJob, 1, 1, 0};
  commit.round.members = 1;
  commit.round.committed_at_ns = 1;
  ASSERT_EQ(journal_->store(commit).text(), "ok");
  const RunFigures figures = report().figures;
  EXPECT_FALSE(figures.bytes_dense_up);
  EXPECT_FALSE(figures.accuracy_final);
  const std::string page = read("report.html");
  EXPECT_EQ(xml_complaint(page), "");
  for (const char* const sentence :
       {"The journal contains no evaluation", "No agent has reported a training loss",
        "The journal contains no readable plan", "The journal contains no measured latency",
        "The journal contains no measured bandwidth", "dense: unknown"}) {
    EXPECT_THAT(page, HasSubstr(sentence));
  }
}

// The job is in the file, and the rounds are in its log only.
TEST_F(RunReportTest, AMissingLogIsSaid) {
  open();
  store_job();
  ASSERT_EQ(journal_->database().log().copy().text(), "ok");
  store_rounds(3);
  EXPECT_FALSE(report().figures.missing.any());
  const std::string copy = folder_ / "copy.db";
  std::filesystem::copy_file(run_db(), copy);
  const auto made = write_report({.run_file = copy, .folder = out()});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(made->figures.rounds, 0u);
  EXPECT_TRUE(made->figures.missing.log_missing);
  EXPECT_NE(read("report.html").find("tributary run copy"), std::string::npos);
}

// One event of a diverged replica outweighs all rounds in which the hashes agreed.
TEST_F(RunReportTest, ADivergenceIsNotHidden) {
  open();
  store_job();
  store_rounds(2);
  add_event("replica_diverged", LogLevel::error, "model of agent b");
  const RunReport made = report();
  EXPECT_FALSE(made.figures.replicas_identical);
  EXPECT_THAT(read("report.html"), HasSubstr("tile bad"));
}

// The loss of the last round is the mean over the agents that measured it, (2 + 6) / 2; a reading
// that is not a number does not count.
TEST_F(RunReportTest, HoldOutsStandForATestSetThatIsNotThere) {
  open();
  store_job();
  store_rounds(1);
  for (const std::uint64_t round : {1u, 2u}) {
    add_metric("evaluation_loss", 1.0 * static_cast<double>(round), round, "a");
    add_metric("evaluation_loss", 3.0 * static_cast<double>(round), round, "b");
  }
  add_metric("evaluation_loss", std::numeric_limits<double>::quiet_NaN(), 2, "<c>");
  const RunFigures figures = report().figures;
  EXPECT_EQ(figures.loss_final, 4);
  EXPECT_TRUE(figures.evaluated_by_agents);
}

// Without a name, the newest job is reported. The error lists the newest job first as well.
TEST_F(RunReportTest, FindsAJobByNameOrNumberAndNamesThoseThatAreThere) {
  open();
  store_job(kJob, "first");
  store_job(8, "second");
  EXPECT_EQ(report().figures.job_name, "second");
  EXPECT_EQ(report("first").figures.job, kJob);
  EXPECT_EQ(report("8").figures.job_name, "second");
  const auto none = write_report({.run_file = run_db(), .folder = out(), .job = "third"});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::not_found);
  EXPECT_THAT(none.status().text(), HasSubstr("'second', 'first'"));
}

// A file stands where the folder should be; then the journal itself is missing.
TEST_F(RunReportTest, AFolderThatCannotBeMadeIsAnError) {
  open();
  store_job();
  std::ofstream(out()) << "a file";
  const auto none = write_report({.run_file = run_db(), .folder = out()});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::io_error);
  EXPECT_FALSE(write_report({.run_file = folder_ / "nothing.db", .folder = out()}).ok());
}

}  // namespace
}  // namespace tributary::report
