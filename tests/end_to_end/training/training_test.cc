// Federations of processes that train a real model on data that each agent reads itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/store/coordinator/run_file.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/picture_training.h"

namespace tributary::end_to_end {
namespace {

#ifndef TRIBUTARY_TORCH_EVALUATE
#define TRIBUTARY_TORCH_EVALUATE ""  // tests that need the program are then skipped
#endif

// Returns the accuracy on the test part as computed by tributary-torch-evaluate, a program that
// uses only libtorch and the data.
double accuracy_of_export(Federation& federation, const std::string& job,
                          const std::filesystem::path& data) {
  Process exported({TRIBUTARY_CLI, "job", "export", job, "--run", federation.path("coordinator.db"),
                    "--out", federation.path("model"), "--format", "torchscript"},
                   federation.path("export.log"));
  EXPECT_EQ(exported.wait(), 0) << federation.path("export.log");
  Process evaluated(
      {TRIBUTARY_TORCH_EVALUATE, federation.path("model") + "/model.pt", data.string()},
      federation.path("evaluate.log"));
  EXPECT_EQ(evaluated.wait(), 0) << federation.path("evaluate.log");
  for (const std::string& line : evaluated.lines()) {
    const std::size_t at = line.find("accuracy ");
    if (at != std::string::npos) return std::stod(line.substr(at + 9));
  }
  return -1;
}

using Training = PictureTraining;

TEST_F(Training, GradientsThroughAdamTeachLenetOnIdxFiles) {
  Federation federation({.agents = 2,
                         .rounds = 240,
                         .job = std::string(kLenet) + R"(mode = "gradient"
optimizer = "adam"
learning_rate = 0.003
schedule = "step:every=200,factor=0.1,warmup=5"
)",
                         .agent_settings = settings()});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_GT(last_accuracy(federation.agent(0)), 0.9);
  // Values in the log are rounded.
  EXPECT_NEAR(accuracy_of_export(federation, "test", data_), last_accuracy(federation.agent(0)),
              1e-4);
}

TEST_F(Training, LocalEpochsAndAServerOptimizerTeachIt) {
  Federation federation({.agents = 2,
                         .rounds = 8,
                         .job = std::string(kLenet) + R"(mode = "delta"
strategy = "fedavgm:momentum=0.3"
optimizer = "momentum"
epochs = 1
learning_rate = 0.05
)",
                         .agent_settings = settings()});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_GT(last_accuracy(federation.agent(1)), 0.9);
}

// Two agents classify a table: the label has a column of its own, the separator is a semicolon, and
// one column is a thousand times as large as the other. Without its scale the job learns nothing.
TEST_F(Training, ATableOfLabelledRowsIsClassified) {
  const StreamKey key = stream_key({.job_seed = 3, .purpose = DrawPurpose::synthetic_data});
  for (const char* part : {"train", "test"}) {
    std::ofstream table(data_ / (std::string(part) + ".csv"));
    table << "kind;large;small\n";
    for (std::uint32_t i = 0; i < 300; ++i) {
      const std::uint32_t draw = 2 * (i + (part[1] == 'r' ? 0u : 300u));
      const std::uint32_t kind = random_bits(key, draw) % 3;
      const std::uint32_t noise = random_bits(key, draw + 1) % 400;
      table << kind << ';' << 1000 * kind + noise << ';' << (kind == 1 ? 1 : 0) << '\n';
    }
  }
  std::vector<std::string> reading = settings();
  reading.emplace_back("data.format=csv");
  Federation federation({.agents = 2,
                         .rounds = 60,
                         .job = R"(model = "mlp:hidden=16"
input = "2"
classes = 3
label = "kind"
separator = ";"
mean = "1200, 0.3"
deviation = "800, 0.5"
mode = "gradient"
optimizer = "adam"
learning_rate = 0.05
)",
                         .agent_settings = reading});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_GT(last_accuracy(federation.agent(0)), 0.95);
}

// Real gradients and AdamW. Figures are means of the agents' reports.
class TrainingWithGcomp : public Training {
 protected:
  struct Sent {
    double bytes = 0;
    double bits_dropped = 0;
    double buckets_with_view = 0;
  };

  void play(const std::string& codec, const std::string& collective, Sent& mean) const {
    SCOPED_TRACE(codec + ", " + collective);
    std::vector<std::string> agent_settings = settings();
    agent_settings.emplace_back("peers.endpoint=tcp://127.0.0.1:0");
    Federation federation({.agents = 2,
                           .rounds = 5,
                           .job = std::string(kLenet) + R"(mode = "gradient"
optimizer = "adamw"
learning_rate = 0.0001
)",
                           .codec = codec,
                           .coordinator_settings = {"job.collective=" + collective},
                           .agent_settings = agent_settings});
    federation.start_all();
    federation.expect_all_end();
    federation.expect_identical();
    const auto run = RunFile::open(federation.coordinator_journal());
    ASSERT_TRUE(run.ok()) << run.status().text();
    const auto jobs = (*run)->jobs();
    ASSERT_TRUE(jobs.ok()) << jobs.status().text();
    const auto reports = (*run)->agent_rounds(jobs->at(0).job, 2, 5);
    ASSERT_TRUE(reports.ok()) << reports.status().text();
    ASSERT_GE(reports->size(), 6u) << "the last report may come after the end";
    const auto count = static_cast<double>(reports->size());
    for (const AgentRoundRecord& report : *reports) {
      ASSERT_NE(report.mechanisms, nullptr);
      const auto* facts = flatbuffers::GetRoot<wire::Mechanisms>(report.mechanisms->data());
      mean.bytes += static_cast<double>(report.bytes_up) / count;
      mean.bits_dropped += facts->mantissa_bits_dropped() / count;
      mean.buckets_with_view += facts->buckets_with_view() / count;
    }
  }
};

TEST_F(TrainingWithGcomp, LeavesOutBitsThatTheStepRoundsAway) {
  Sent star;
  play("gcomp:truncation=metric", "star", star);
  EXPECT_GT(star.buckets_with_view, 0);
  EXPECT_GT(star.bits_dropped, 1);
  EXPECT_LT(star.bits_dropped, 18);
}

// In this job δ exceeds 2^6, so that the default leaves out 18 bits. Half of the values are 0.
TEST_F(TrainingWithGcomp, SendsAQuarterOfTheBytesByDefault) {
  Sent dense;
  Sent by_12_bits;
  Sent by_default;
  play("fp32", "ring", dense);
  play("gcomp:truncation=12", "ring", by_12_bits);
  play("gcomp", "ring", by_default);
  EXPECT_EQ(by_12_bits.buckets_with_view, 0);
  EXPECT_GT(by_default.buckets_with_view, 0);
  EXPECT_LT(by_default.bytes, 0.25 * dense.bytes);
  EXPECT_LT(by_default.bytes, 0.8 * by_12_bits.bytes);
}

// An agent with different data is left out and logs the mismatch; the others continue.
TEST_F(Training, AnAgentWithOtherDataIsExcludedWithAReason) {
  Federation federation({.agents = 2,
                         .rounds = 4,
                         .job = std::string(kLenet) + "mode = \"gradient\"\nquorum = 0.5\n",
                         .coordinator_settings = {"job.agents_min=1", "job.deadline_ms=3000"},
                         .agent_settings = settings()});
  federation.start_coordinator();
  std::vector<std::string> wrong = federation.agent_command(1);
  std::filesystem::create_directory(data_ / "other");
  std::ofstream(data_ / "other" / "train.csv") << "a,b,label\n1,2,0\n3,4,1\n";
  wrong.emplace_back("--set");
  wrong.push_back("data.path=" + (data_ / "other").string());
  Process other(wrong, federation.path("other.log"));
  EXPECT_TRUE(other.logs({"cannot train", "1x16x16"})) << federation.path("other.log");
  // started last, because alone it would finish before the other agent connects
  federation.start_agent(0);
  EXPECT_EQ(federation.agent(0).wait(), 0);
  EXPECT_EQ(federation.coordinator().wait(), 0);
}

// An error in one agent's data is logged by that agent, and the others continue without it.
struct BadData {
  const char* name;
  const char* contents;  // of train.csv
  std::vector<std::string> logged;
  // 2: both agents take part from the first round. An agent alone whose numbers are bad ends the
  // job.
  std::uint32_t agents_min = 1;
};

class TrainingOnBadData : public Training, public testing::WithParamInterface<BadData> {};

TEST_P(TrainingOnBadData, IsReportedAndTheOthersContinue) {
  std::filesystem::create_directory(data_ / "good");
  std::string good = "a,b,y\n";
  for (int i = 0; i < 64; ++i) good += std::to_string(i % 7) + "," + std::to_string(i % 5) + ",1\n";
  std::ofstream(data_ / "good" / "train.csv") << good;
  std::filesystem::create_directory(data_ / "bad");
  std::ofstream(data_ / "bad" / "train.csv") << GetParam().contents;

  Federation federation(
      {.agents = 2,
       .rounds = 5,
       .job = R"(model = "mlp:hidden=8"
task = "regression"
input = "2"
outputs = 1
loss = "mse"
learning_rate = 0.001
mode = "gradient"
)",
       .coordinator_settings = {fmt::format("job.agents_min={}", GetParam().agents_min),
                                "job.deadline_ms=2000"},
       .agent_settings = {"trainer.name=torch", "trainer.threads=1"}});
  federation.set_for_agent(0, "data.path=" + (data_ / "good").string());
  federation.set_for_agent(1, "data.path=" + (data_ / "bad").string());
  federation.start_coordinator();
  federation.start_agent(1);
  if (GetParam().agents_min > 1) federation.start_agent(0);
  EXPECT_TRUE(federation.agent(1).logs(GetParam().logged)) << federation.path("agent-1.log");
  if (GetParam().agents_min == 1) federation.start_agent(0);
  federation.expect_all_end();
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TrainingOnBadData,
    testing::Values(BadData{"NotFinite",
                            "a,b,y\n1e30,1e30,1e30\n1e30,1e30,1e30\n",
                            {"training failed", "finite"},
                            2},
                    BadData{"CutShort", "a,b,y\n1,2,3\n4,5", {"cannot train", "train.csv", "3"}},
                    BadData{"Empty", "", {"cannot train", "train.csv"}},
                    BadData{"NotANumber", "a,b,y\n1,2,3\n1,two,3\n", {"cannot train", "line 3"}}),
    [](const testing::TestParamInfo<BadData>& tested) { return tested.param.name; });

// A TorchScript file is sent with its job, trained and exported; the export has the accuracy that
// was logged.
TEST_F(Training, ATorchScriptFileIsTrainedAndExported) {
  Federation federation({.agents = 2,
                         .rounds = 1,
                         .job = std::string(kLenet) + "mode = \"gradient\"\n",
                         .coordinator_settings = {"evaluation.path=" + data_.string()},
                         .agent_settings = settings(),
                         .exit_when_done = false});
  federation.start_all();
  ASSERT_TRUE(federation.committed(1));
  federation.ask({"job", "watch", "test"});
  federation.ask({"job", "export", "test", "--out", federation.path("first")});

  std::ofstream(federation.path("script.toml")) << R"(name = "script"
rounds = 200
model_file = "first/model.pt"
input = "1x16x16"
classes = 10
mode = "gradient"
optimizer = "momentum"
learning_rate = 0.1
evaluate_every = 50
codec = "thc"
agents_min = 2
)";
  federation.ask({"job", "submit", federation.path("script.toml")});
  const auto data = nlohmann::json::parse(federation.ask({"job", "watch", "script"}))["data"];
  ASSERT_EQ(data["state"], "finished") << data.dump();
  ASSERT_TRUE(federation.coordinator().logs({"evaluated", "model_version=200"}));
  const std::string logged =
      field(federation.coordinator().lines_with({"evaluated", "model_version=200"})[0], "accuracy");
  EXPECT_GT(std::stod(logged), 0.5);
  EXPECT_NEAR(accuracy_of_export(federation, "script", data_), std::stod(logged), 1e-4);
}

// The training engine has its own threads, which must not receive signals.
TEST_F(Training, DaemonsWithAnEngineStopWhenTheyAreAsked) {
  Federation federation({.agents = 1,
                         .rounds = 1'000'000,
                         .job = std::string(kLenet) + "mode = \"gradient\"\n",
                         .coordinator_settings = {"evaluation.path=" + data_.string()},
                         .agent_settings = settings()});
  federation.start_all();
  ASSERT_TRUE(federation.coordinator().logs({"evaluated"}));
  federation.coordinator().signal(SIGHUP);
  ASSERT_TRUE(federation.coordinator().logs({"allow-list read again"}));
  federation.agent(0).signal(SIGTERM);
  EXPECT_EQ(federation.agent(0).wait(), 0);
  federation.coordinator().signal(SIGTERM);
  EXPECT_EQ(federation.coordinator().wait(), 0);
}

// The training continues from the same model, bit for bit.
TEST_F(Training, APausedTrainingContinuesOverARestart) {
  Federation federation(
      {.agents = 2,
       .rounds = 80,
       .job = std::string(kLenet) + R"(mode = "gradient"
optimizer = "adam"
learning_rate = 0.003
)",
       .coordinator_settings = {"job.evaluate_every=1", "evaluation.path=" + data_.string()},
       .agent_settings = settings()});
  federation.start_all();
  ASSERT_TRUE(federation.committed(6));
  federation.ask({"job", "pause", "test"});
  federation.coordinator().kill();
  federation.start_coordinator();
  ASSERT_TRUE(federation.coordinator().logs({"job restored"}));
  federation.ask({"job", "resume", "test"});
  federation.expect_all_end();
  federation.expect_identical();
  const auto run = RunFile::open(federation.coordinator_journal());
  ASSERT_TRUE(run.ok()) << run.status().text();
  const auto jobs = (*run)->jobs();
  ASSERT_TRUE(jobs.ok() && jobs->size() == 1);
  const auto rounds = (*run)->rounds(jobs->front().job, 1, 80);
  ASSERT_TRUE(rounds.ok() && rounds->size() == 80);
  for (std::size_t i = 1; i < rounds->size(); ++i) {
    EXPECT_EQ((*rounds)[i].previous_hash, (*rounds)[i - 1].model_hash) << i;
  }
  const auto losses = (*run)->metrics("evaluation_loss", 0, 1000);
  ASSERT_TRUE(losses.ok());
  std::vector<double> curve;
  for (const StoredMetric& loss : *losses) {
    if (loss.agent_id.empty()) curve.push_back(loss.value);
  }
  ASSERT_GE(curve.size(), 5u);
  EXPECT_LT(curve.back(), 0.8 * curve.front());
}

}  // namespace
}  // namespace tributary::end_to_end
