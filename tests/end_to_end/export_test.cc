// Models exported from journals.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/files/file.h"
#include "core/round/common/plan/job_model.h"
#include "core/store/coordinator/run_file.h"
#include "core/train/model/safetensors.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

std::string log_of(const Federation& federation) {
  std::ifstream file(federation.path("export.log"));
  return {std::istreambuf_iterator<char>(file), {}};
}

// Exports the model of the job, and checks that it is the model of the round that the file names.
std::uint64_t export_round(Federation& federation, const std::string& run_file) {
  Process exported({TRIBUTARY_CLI, "job", "export", "test", "--run", run_file, "--out",
                    federation.path("model")},
                   federation.path("export.log"));
  EXPECT_EQ(exported.wait(), 0) << log_of(federation);
  const Result<Bytes> file =
      read_file(federation.path("model") + "/model.safetensors", std::uint64_t{1} << 30);
  EXPECT_TRUE(file.ok()) << file.status().text();
  if (!file.ok()) return 0;
  const Result<Safetensors> model = read_safetensors(*file);
  EXPECT_TRUE(model.ok()) << model.status().text();
  if (!model.ok()) return 0;
  const std::uint64_t round = std::strtoull(model->metadata.at("round").c_str(), nullptr, 10);
  const auto run = RunFile::open(run_file);
  EXPECT_TRUE(run.ok()) << run.status().text();
  const auto jobs = (*run)->jobs();
  EXPECT_TRUE(jobs.ok()) << jobs.status().text();
  const auto rounds = (*run)->rounds(jobs->front().job, round, round);
  EXPECT_TRUE(rounds.ok() && rounds->size() == 1) << round;
  if (!rounds.ok() || rounds->size() != 1) return 0;
  EXPECT_EQ(model_hash_of(model->values), rounds->front().model_hash);
  return round;
}

// The initial model is the only checkpoint, so all rounds are applied again from the journal.
TEST(Export, GivesTheNewestModelWhileTheCoordinatorRuns) {
  Federation federation(
      {.agents = 2, .rounds = 400, .codec = "int8", .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(5));
  EXPECT_GE(export_round(federation, federation.path("coordinator.db")), 5u);
  EXPECT_TRUE(federation.coordinator().running());
}

TEST(Export, GivesTheLastModelWhenAllIsOver) {
  Federation federation({.agents = 2, .rounds = 7});
  federation.start_all();
  federation.expect_all_end();
  EXPECT_EQ(export_round(federation, federation.path("coordinator.db")), 7u);
  EXPECT_NE(log_of(federation).find("not as TorchScript"), std::string::npos)
      << "a synthetic job has no network";
}

// A restarted coordinator begins with the log copied into the file; later rounds are in the log.
TEST(Export, SaysThatTheLogOfACopyIsMissing) {
  Federation federation({.agents = 2, .rounds = 400, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(3));
  federation.coordinator().kill();
  federation.start_coordinator();
  ASSERT_TRUE(federation.committed(6));
  const std::string run = federation.path("coordinator.db");
  EXPECT_GE(export_round(federation, run), 6u);
  EXPECT_EQ(log_of(federation).find("may be missing"), std::string::npos) << log_of(federation);

  const std::string alone = federation.path("alone.db");
  std::filesystem::copy_file(run, alone);
  EXPECT_GE(export_round(federation, alone), 3u);
  EXPECT_NE(log_of(federation).find("may be missing"), std::string::npos) << log_of(federation);
}

TEST(Export, ReadsACopyOfALiveRun) {
  Federation federation({.agents = 2, .rounds = 400, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(5));
  const std::string copy = federation.path("copy.db");
  const std::vector<std::string> command = {
      TRIBUTARY_CLI, "run", "copy", federation.path("coordinator.db"), copy, "--json"};
  Process copying(command, federation.path("copy.log"));
  ASSERT_EQ(copying.wait(), 0) << testing::PrintToString(copying.lines());
  ASSERT_EQ(copying.lines().size(), 1u);
  const auto data = nlohmann::json::parse(copying.lines()[0])["data"];
  EXPECT_GE(data["rounds"], 5);
  EXPECT_EQ(data["log_missing"], false);
  EXPECT_EQ(export_round(federation, copy), data["rounds"].get<std::uint64_t>());
  EXPECT_EQ(log_of(federation).find("may be missing"), std::string::npos) << log_of(federation);
  EXPECT_TRUE(federation.coordinator().running());

  Process again(command, federation.path("again.log"));
  EXPECT_NE(again.wait(), 0) << "the copy exists";
}

}  // namespace
}  // namespace tributary::end_to_end
