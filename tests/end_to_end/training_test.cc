// Federations of processes that train a real model on data that each agent reads for itself.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tests/end_to_end/federation.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint32_t kSide = 16;

void put_big_endian(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

// Stripes whose direction is the label, under noise, in the files of MNIST.
void write_idx(const std::filesystem::path& folder, const std::string& part, std::uint32_t count,
               std::uint64_t seed) {
  const StreamKey key = stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data});
  std::string images;
  std::string labels;
  for (const std::uint32_t number : {0x803u, count, kSide, kSide}) put_big_endian(images, number);
  for (const std::uint32_t number : {0x801u, count}) put_big_endian(labels, number);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t label = random_bits(key, i) % 3;
    labels.push_back(static_cast<char>(label));
    for (std::uint32_t v = 0; v < kSide * kSide; ++v) {
      const std::uint32_t row = v / kSide;
      const std::uint32_t column = v % kSide;
      const std::uint32_t along = label == 0 ? row : label == 1 ? column : row + column;
      const std::uint32_t noise = random_bits(key, count + i * kSide * kSide + v) % 128;
      images.push_back(static_cast<char>((along % 4 < 2 ? 96u : 0u) + noise));
    }
  }
  std::ofstream(folder / (part + "-images-idx3-ubyte"), std::ios::binary) << images;
  std::ofstream(folder / (part + "-labels-idx1-ubyte"), std::ios::binary) << labels;
}

#ifndef TRIBUTARY_TORCH_EVALUATE
#define TRIBUTARY_TORCH_EVALUATE ""  // no test comes so far
#endif

// What tributary-torch-evaluate, which knows libtorch and the data alone, finds on the test part.
double accuracy_of_export(Federation& federation, const std::filesystem::path& data) {
  Process exported(
      {TRIBUTARY_CLI, "job", "export", "test", "--run", federation.path("coordinator.db"), "--out",
       federation.path("model"), "--format", "torchscript"},
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

class Training : public testing::Test {
 protected:
  void SetUp() override {
#ifndef TRIBUTARY_TORCH
    GTEST_SKIP() << "built without libtorch";
#endif
    std::string name = (std::filesystem::temp_directory_path() / "tributary-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    data_ = name;
    write_idx(data_, "train", 600, 1);
    write_idx(data_, "t10k", 150, 2);
  }
  void TearDown() override {
    std::error_code ignored;
    if (!data_.empty()) std::filesystem::remove_all(data_, ignored);
  }

  std::vector<std::string> settings() const {
    return {"trainer.name=torch", "trainer.threads=1", "data.path=" + data_.string()};
  }

  std::filesystem::path data_;
};

constexpr const char* kLenet = R"(model = "lenet"
input = "1x16x16"
classes = 10
batch_size = 32
evaluate_every = 5
)";

// The accuracy of the model that an agent had in the end.
double last_accuracy(const Process& agent) {
  const std::vector<std::string> lines = agent.lines_with({"evaluated"});
  return lines.empty() ? -1 : std::stod(field(lines.back(), "accuracy"));
}

void expect_the_same_model(Federation& federation, std::uint32_t agents, std::uint64_t rounds) {
  std::vector<std::string> hashes;
  for (std::uint32_t i = 0; i < agents; ++i) {
    const Result<AgentState> state =
        read_agent_journal(federation.path(Federation::agent_id(i) + ".db"));
    ASSERT_TRUE(state.ok()) << state.status().text();
    ASSERT_TRUE(state->replica);
    EXPECT_EQ(state->replica->model_version, rounds);
    hashes.push_back(std::to_string(state->replica->model_hash));
  }
  for (const std::string& hash : hashes) EXPECT_EQ(hash, hashes[0]);
}

TEST_F(Training, GradientsThroughMomentumTeachLenetOnIdxFiles) {
  Federation federation({.agents = 2,
                         .rounds = 120,
                         .job = std::string(kLenet) + R"(mode = "gradient"
optimizer = "momentum"
learning_rate = 0.1
schedule = "cosine:warmup=5,floor=0.05"
)",
                         .agent_settings = settings()});
  federation.start_all();
  federation.expect_everybody_ends();
  expect_the_same_model(federation, 2, 120);
  EXPECT_GT(last_accuracy(federation.agent(0)), 0.9);
  // The log rounds.
  EXPECT_NEAR(accuracy_of_export(federation, data_), last_accuracy(federation.agent(0)), 1e-4);
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
  federation.expect_everybody_ends();
  expect_the_same_model(federation, 2, 8);
  EXPECT_GT(last_accuracy(federation.agent(1)), 0.9);
}

// The others go on without an agent whose data is another; it says what does not fit.
TEST_F(Training, AnAgentWithOtherDataIsLeftOutAndSaysWhy) {
  Federation federation({.agents = 2,
                         .rounds = 4,
                         .job = std::string(kLenet) + "mode = \"gradient\"\nquorum = 0.5\n",
                         .coordinator_settings = {"job.agents_min=1", "job.deadline_ms=3000"},
                         .agent_settings = settings()});
  federation.start_coordinator();
  federation.start_agent(0);
  std::vector<std::string> wrong = federation.agent_command(1);
  std::filesystem::create_directory(data_ / "other");
  std::ofstream(data_ / "other" / "train.csv") << "a,b,label\n1,2,0\n3,4,1\n";
  wrong.emplace_back("--set");
  wrong.push_back("data.path=" + (data_ / "other").string());
  Process other(wrong, federation.path("other.log"));
  EXPECT_EQ(federation.agent(0).wait(), 0);
  EXPECT_TRUE(other.logs({"cannot train", "1x16x16"})) << federation.path("other.log");
  EXPECT_EQ(federation.coordinator().wait(), 0);
}

}  // namespace
}  // namespace tributary::end_to_end
