// Agents encode on the device that their settings name. The journal says so, and the model does not
// depend on it.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

// Without training ahead every round uses the device in the same way, so that it allocates nothing
// after the first one. Another thread than the loop's encodes.
void expect_work_of_a_device(Federation& federation, std::uint32_t agents) {
  for (std::uint32_t i = 0; i < agents; ++i) {
    EXPECT_FALSE(federation.agent(i).lines_with({"encoded_in_background"}).empty()) << i;
    const auto lines = federation.agent(i).lines_with({"device_allocated"});
    ASSERT_EQ(lines.size(), 1u) << "agent " << i;
    EXPECT_EQ(field(lines[0], "round"), "1") << lines[0];
  }
}

constexpr std::uint64_t kDeviceRounds = 3;

// Runs a job of two agents, checks what the journal says about them, and returns the hash of its
// model. Each update has `buckets` buckets. With `in_journal` empty, the journal names the device
// that the agent's log names: it depends on the machine.
std::string model_of(const std::string& codec, const std::string& device, std::string in_journal,
                     int buckets, const std::string& job = {}) {
  Federation federation(
      {.agents = 2,
       .rounds = kDeviceRounds,
       .parameters = 10'000,
       .job = job,
       .codec = codec,
       .coordinator_settings = {"job.bucket_values=4096", "job.quorum=1"},
       .agent_settings = {"codec.device=" + device, "trainer.ahead=false", "log.level=debug"}});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  if (in_journal == "emulated") expect_work_of_a_device(federation, 2);
  const std::string logged =
      field(federation.agent(0).lines_with({"encodes", "device="}).at(0), "device");
  if (in_journal.empty()) in_journal = logged;
  EXPECT_TRUE(in_journal == logged || in_journal == "host") << logged;
  // The reports on the round before the last one are stored with the last one.
  const auto answer = nlohmann::json::parse(
      federation.ask({"job", "show", "test", "--round", std::to_string(kDeviceRounds - 1)}));
  for (std::uint32_t i = 0; i < 2; ++i) {
    const nlohmann::json& facts = answer["data"]["mechanisms"]["agents"][Federation::agent_id(i)];
    EXPECT_EQ(facts["buckets_by_device"], nlohmann::json({{in_journal, buckets}})) << answer.dump();
  }
  return answer["data"]["last_round"]["model_hash"].dump();
}

class CodecDevices : public testing::TestWithParam<const char*> {};

TEST_P(CodecDevices, AreInTheJournalAndLeaveTheModelAsItIs) {
  const std::string expected = model_of(GetParam(), "host", "host", 3);
  EXPECT_EQ(model_of(GetParam(), "emulated", "emulated", 3), expected);
  // A GPU or the host: both have a name in the journal, and neither stops the agent.
  EXPECT_EQ(model_of(GetParam(), "auto", "", 3), expected);
  EXPECT_EQ(model_of(GetParam(), "cuda", "", 3), expected);
}

INSTANTIATE_TEST_SUITE_P(Codecs, CodecDevices, testing::Values("int8_shared", "fp16", "thc"));

// Runs a job with Adam, checks whether its journal says that a device made the steps, and returns
// the hash of its model. An agent that trains ahead of the commit makes the steps on the host.
std::string model_of_steps(const std::string& device, bool ahead, bool on_device) {
  Federation federation(
      {.agents = 2,
       .rounds = kDeviceRounds,
       .parameters = 10'000,
       .codec = "int8_shared",
       .coordinator_settings = {"job.bucket_values=4096", "job.quorum=1", "job.optimizer=adam"},
       .agent_settings = {"codec.device=" + device,
                          ahead ? "trainer.ahead=true" : "trainer.ahead=false"}});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  nlohmann::json answer;
  for (std::uint64_t round = 1; round < kDeviceRounds; ++round) {
    answer = nlohmann::json::parse(
        federation.ask({"job", "show", "test", "--round", std::to_string(round)}));
    for (std::uint32_t i = 0; i < 2; ++i) {
      const nlohmann::json& facts = answer["data"]["mechanisms"]["agents"][Federation::agent_id(i)];
      // No round has been applied before the report on the first one.
      EXPECT_EQ(facts.at("steps_on_device"), on_device && round > 1 ? 1 : 0) << answer.dump();
    }
  }
  return answer["data"]["last_round"]["model_hash"].dump();
}

TEST(CodecDevice, MakesTheOptimizersStepsAndTheJournalSaysSo) {
  const std::string expected = model_of_steps("host", false, false);
  EXPECT_EQ(model_of_steps("emulated", false, true), expected);
  EXPECT_EQ(model_of_steps("emulated", true, false), expected);
}

// Compressors of bytes have none.
TEST(CodecDevice, HasNoKernelsForEveryCodec) { model_of("zstd", "emulated", "host", 3); }

// The buckets of 3LC hold whole layers.
TEST(CodecDevice, TakesWholeLayers) {
  const std::string expected = model_of("threelc", "host", "host", 1);
  EXPECT_EQ(model_of("threelc", "emulated", "emulated", 1), expected);
}

// PowerSGD factors matrices.
TEST(CodecDevice, MultipliesMatrices) {
  const std::string job = R"(layers = ["weight:100x100"])";
  const std::string expected = model_of("powersgd", "host", "host", 1, job);
  EXPECT_EQ(model_of("powersgd", "emulated", "emulated", 1, job), expected);
}

}  // namespace
}  // namespace tributary::end_to_end
