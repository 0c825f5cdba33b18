// The bytes that an agent writes in a round, as the kernel counts them for its process: the vectors
// are large, and the flash of a small device wears out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint64_t kWrittenValues = 1u << 20;
constexpr double kModelBytes = 4.0 * kWrittenValues;
constexpr std::uint64_t kFirstCounted = 8;
// One model is stored among them.
constexpr std::uint64_t kRoundsCounted = 64;

// Bytes that the process has passed to write(). Messages do not pass through it.
double written_by(const Process& process) {
  std::ifstream counters(fmt::format("/proc/{}/io", process.pid()));
  std::string name;
  std::uint64_t value = 0;
  while (counters >> name >> value) {
    if (name == "wchar:") return static_cast<double>(value);
  }
  ADD_FAILURE() << "no counters of process " << process.pid();
  return 0;
}

struct WritesCase {
  const char* name;
  const char* codec;
  double models_max;  // bytes in a round, in models
};

class AgentWrites : public testing::TestWithParam<WritesCase> {};

TEST_P(AgentWrites, InARound) {
  Federation federation(
      {.agents = 2,
       .rounds = kFirstCounted + kRoundsCounted + 8,
       .parameters = kWrittenValues,
       .codec = GetParam().codec,
       .coordinator_settings = {"job.bucket_values=262144", "job.checkpoint_rounds=8"},
       .encrypted = false});
  federation.start_all();
  const auto written_until = [&](std::uint64_t round) {
    EXPECT_TRUE(
        federation.agent(0).logs({"model stored", fmt::format("model_version={} ", round)}));
    return written_by(federation.agent(0));
  };
  const double before = written_until(kFirstCounted);
  const double after = written_until(kFirstCounted + kRoundsCounted);
  const double models = (after - before) / kRoundsCounted / kModelBytes;
  fmt::print("{}: {:.3f} models in a round\n", GetParam().codec, models);
  EXPECT_LT(models, GetParam().models_max);
  federation.expect_all_end();
  federation.expect_identical();
}

// With a lossless codec only the model is stored, once in 64 rounds. The residual of the others is
// written once in a round, and copied from the log at most once.
INSTANTIATE_TEST_SUITE_P(Codecs, AgentWrites,
                         testing::Values(WritesCase{"fp32", "fp32", 0.1},
                                         WritesCase{"thc", "thc:bits=4", 1.6},
                                         WritesCase{"threelc", "threelc", 1.6},
                                         WritesCase{"topk", "topk:cr=0.01", 1.6}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace tributary::end_to_end
