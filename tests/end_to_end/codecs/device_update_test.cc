// A trainer in C hands over its updates in the memory of a device, and the agent encodes them
// there: the model and the residuals are those of updates in host memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/store/coordinator/run_file.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/picture_training.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint32_t kUpdatingAgents = 2;
constexpr std::uint64_t kUpdatingRounds = 4;

FederationOptions job_with_updates(const std::string& codec, const std::string& device,
                                   const std::string& memory) {
  return {
      .agents = kUpdatingAgents,
      .rounds = kUpdatingRounds,
      .parameters = 10'000,
      .codec = codec,
      .coordinator_settings = {"job.bucket_values=4097", "job.quorum=1"},
      .agent_settings = {"codec.device=" + device, "trainer.name=external",
                         "trainer.library=" TRIBUTARY_C_TRAINER, "trainer.model_file=" + memory}};
}

std::string hash_of_last_model(Federation& federation) {
  federation.expect_identical();
  const auto answer = nlohmann::json::parse(federation.ask({"job", "show", "test"}));
  return answer["data"]["last_round"]["model_hash"].dump();
}

// The number of rounds before the last one of which the journal says that an agent's update stayed
// on its device, of all agents.
std::uint64_t updates_on_device(const Federation& federation) {
  const auto run = RunFile::open(federation.coordinator_journal());
  EXPECT_TRUE(run.ok()) << run.status().text();
  const auto reports = (*run)->agent_rounds((*run)->jobs()->at(0).job, 1, kUpdatingRounds - 1);
  EXPECT_TRUE(reports.ok()) << reports.status().text();
  std::uint64_t updates = 0;
  for (const AgentRoundRecord& report : *reports) {
    const auto* facts = flatbuffers::GetRoot<wire::Mechanisms>(report.mechanisms->data());
    updates += facts->update_on_device();
  }
  return updates;
}

std::string model_with_updates(const std::string& codec, const std::string& device,
                               const std::string& memory, std::uint64_t stayed) {
  Federation federation(job_with_updates(codec, device, memory));
  federation.start_all();
  federation.expect_all_end();
  EXPECT_EQ(updates_on_device(federation), stayed) << codec;
  return hash_of_last_model(federation);
}

// With a residual, and beside it.
TEST(DeviceUpdate, GivesTheModelOfTheHost) {
  for (const char* const codec : {"thc", "thc:range=minmax"}) {
    SCOPED_TRACE(codec);
    const std::string expected = model_with_updates(codec, "host", "host", 0);
    EXPECT_EQ(
        model_with_updates(codec, "emulated", "emulated", kUpdatingAgents * (kUpdatingRounds - 1)),
        expected);
  }
}

// The libtorch trainer computes in the memory of the device that encodes, and its gradients stay
// there.
class DeviceTraining : public PictureTraining {
 protected:
  // The agents run on `device`; the journal says that so many updates stayed there.
  std::string model_trained_on(const std::string& device, std::uint64_t stayed) {
    FederationOptions options = {.agents = kUpdatingAgents,
                                 .rounds = kUpdatingRounds,
                                 .job = std::string(kLenet) + "mode = \"gradient\"\n",
                                 .codec = "thc",
                                 .coordinator_settings = {"job.quorum=1"},
                                 .agent_settings = settings()};
    options.agent_settings.push_back("codec.device=" + device);
    options.agent_settings.push_back("trainer.device=" + device);
    Federation federation(options);
    federation.start_all();
    federation.expect_all_end();
    EXPECT_EQ(updates_on_device(federation), stayed);
    return hash_of_last_model(federation);
  }
};

TEST_F(DeviceTraining, GivesTheModelOfTheHost) {
  const std::string expected = model_trained_on("host", 0);
  EXPECT_EQ(model_trained_on("emulated", kUpdatingAgents * (kUpdatingRounds - 1)), expected);
}

// Debian's libtorch has no CUDA.
TEST_F(DeviceTraining, IsRefusedAtTheStartIfLibtorchHasNoCuda) {
  std::vector<std::string> command = {TRIBUTARY_AGENT, "-s", "agent_id=a"};
  std::vector<std::string> given = settings();
  given.insert(given.end(),
               {"link.encrypted=false", "link.coordinator=tcp://127.0.0.1:1",
                "journal.file=" + (data_ / "agent.db").string(), "trainer.device=cuda"});
  for (const std::string& setting : given) command.insert(command.end(), {"-s", setting});
  Process agent(command, (data_ / "agent.log").string());
  EXPECT_NE(agent.wait(), 0);
  EXPECT_TRUE(agent.logs({"setting trainer.device", "this libtorch has no CUDA"}));
}

// The residual that a commit leaves is stored before the payload is sent, so a kill loses nothing.
TEST(DeviceUpdate, SurvivesAKill) {
  const std::string expected = model_with_updates("int8", "host", "host", 0);
  Federation federation(job_with_updates("int8", "emulated", "emulated"));
  federation.start_all();
  ASSERT_TRUE(federation.committed(2));
  federation.kill_agent(1);
  federation.start_agent(1);
  federation.expect_all_end();
  EXPECT_EQ(hash_of_last_model(federation), expected);
}

// The trainer needs a device on which the agent does not encode.
TEST(DeviceUpdate, IsRefusedIfTheHostEncodes) {
  Federation federation(job_with_updates("int8", "host", "emulated"));
  federation.start_all();
  EXPECT_TRUE(federation.agent(0).logs(
      {"cannot train", "the agent does not encode on the device of trainer.model_file"}));
}

}  // namespace
}  // namespace tributary::end_to_end
