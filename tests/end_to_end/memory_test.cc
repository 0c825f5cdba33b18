// Daemons need about as much memory for a job as `job submit` says before it starts.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

// The peak of the resident memory of a process, in bytes; 0 if it cannot be read.
double peak_bytes(const Process& process) {
  std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    double kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return 0;
}

// Page faults of a process that needed no input.
double page_faults(const Process& process) {
  std::ifstream stat("/proc/" + std::to_string(process.pid()) + "/stat");
  std::string fields;
  std::getline(stat, fields);
  std::istringstream after_name(fields.substr(fields.rfind(')') + 2));
  std::string word;
  for (int i = 0; i < 8; ++i) after_name >> word;  // the eighth after the name
  return std::stod(word);
}

class JobMemory : public testing::TestWithParam<const char*> {};

// The first job is small and keeps the agents busy until the second one is submitted. A trainer's
// update is part of the estimate; everything else of the synthetic trainer is small.
TEST_P(JobMemory, IsWhatDaemonsNeed) {
  Federation federation({.agents = 2, .rounds = 2, .parameters = 100, .exit_when_done = false});
  federation.start_all();
  ASSERT_TRUE(federation.committed(2));
  std::ofstream(federation.path("large.toml"))
      << "name = \"large\"\nrounds = 5\nparameters = 4194304\nagents_min = 2\ncodec = \""
      << GetParam() << "\"\n";
  const auto answer =
      nlohmann::json::parse(federation.ask({"job", "submit", federation.path("large.toml")}));
  const nlohmann::json& memory = answer["data"]["memory"];
  federation.ask({"job", "watch", "large"});
  const auto expect_about = [&](const Process& process, const char* side) {
    const double ratio = peak_bytes(process) / memory[side].get<double>();
    RecordProperty(side, std::to_string(ratio));
    EXPECT_GT(ratio, 0.5) << side << ' ' << memory.dump();
    EXPECT_LT(ratio, 1.5) << side << ' ' << memory.dump();
  };
  expect_about(federation.coordinator(), "coordinator_bytes");
  for (std::uint32_t i = 0; i < 2; ++i) expect_about(federation.agent(i), "agent_bytes");
}

INSTANTIATE_TEST_SUITE_P(Codecs, JobMemory, testing::Values("fp32", "thc", "threelc", "topk"),
                         [](const auto& one) { return std::string(one.param); });

// Vectors and messages of a round use the memory of those of the round before. Mapped anew, vectors
// would cost each agent about four page faults per page of the model, and messages half of one.
TEST(RoundMemory, IsThatOfTheRoundBefore) {
  constexpr std::uint64_t kValues = 1u << 20;
  constexpr double kModelPages = kValues * sizeof(float) / 4096.0;
  Federation federation({.agents = 2, .rounds = 60, .parameters = kValues, .encrypted = false});
  federation.start_all();
  ASSERT_TRUE(federation.committed(10));
  const double before = page_faults(federation.agent(0));
  ASSERT_TRUE(federation.committed(50));
  const double faults = (page_faults(federation.agent(0)) - before) / 40;
  EXPECT_LT(faults, 0.25 * kModelPages);
  federation.expect_all_end();
}

}  // namespace
}  // namespace tributary::end_to_end
