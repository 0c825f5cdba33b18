// The bytes that an agent writes in a round, as the kernel counts them for its process: the vectors
// are large, and the flash of a small device wears out.
//
// With journal.durability=round all bytes that the agent passes to write() go to the disk, because
// each record is synced. Otherwise the agent overwrites pages that the system has not written yet,
// and the pages count that become dirty.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

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

// "wchar:" counts the bytes that the process has passed to write(). Messages do not pass through
// it. "write_bytes:" counts those of pages that the system will write to the disk.
double written_by(const Process& process, const std::string& counter) {
  std::ifstream counters(fmt::format("/proc/{}/io", process.pid()));
  std::string name;
  std::uint64_t value = 0;
  while (counters >> name >> value) {
    if (name == counter) return static_cast<double>(value);
  }
  ADD_FAILURE() << "no counters of process " << process.pid();
  return 0;
}

struct WritesCase {
  const char* name;
  const char* codec;
  const char* durability;
  double models_max;  // bytes in a round, in models
};

// A file system in memory has no dirty pages.
bool counts_dirty_pages(const std::string& folder) {
  struct statfs about = {};
  return ::statfs(folder.c_str(), &about) == 0 && about.f_type != TMPFS_MAGIC &&
         about.f_type != RAMFS_MAGIC;
}

class AgentWrites : public testing::TestWithParam<WritesCase> {};

TEST_P(AgentWrites, InARound) {
  Federation federation(
      {.agents = 2,
       .rounds = kFirstCounted + kRoundsCounted + 8,
       .parameters = kWrittenValues,
       .codec = GetParam().codec,
       .coordinator_settings = {"job.bucket_values=262144", "job.checkpoint_rounds=8"},
       .agent_settings = {std::string("journal.durability=") + GetParam().durability},
       .encrypted = false});
  const bool each_synced = GetParam().durability == std::string("round");
  if (!each_synced && !counts_dirty_pages(federation.folder())) {
    GTEST_SKIP() << federation.folder() << " is in memory; set TMPDIR to a folder on a disk";
  }
  federation.start_all();
  const auto written_until = [&](std::uint64_t round) {
    EXPECT_TRUE(
        federation.agent(0).logs({"model stored", fmt::format("model_version={} ", round)}));
    return written_by(federation.agent(0), each_synced ? "wchar:" : "write_bytes:");
  };
  const double before = written_until(kFirstCounted);
  const double after = written_until(kFirstCounted + kRoundsCounted);
  const double models = (after - before) / kRoundsCounted / kModelBytes;
  fmt::print("{}, {}: {:.3f} models in a round\n", GetParam().codec, GetParam().durability, models);
  EXPECT_LT(models, GetParam().models_max);
  federation.expect_all_end();
  federation.expect_identical();
}

// With a lossless codec only the model is stored, once in 64 rounds. The residual of the others is
// written once in a round: 1.1 residuals and 1/32 of the model.
constexpr double kLossless = 1.0 / 32;
constexpr double kLossy = 1.1 + 1.0 / 32;
// These rounds end before the system writes any of the pages, which it does after 30 s.
constexpr double kNotSynced = 0.1;
INSTANTIATE_TEST_SUITE_P(Codecs, AgentWrites,
                         testing::Values(WritesCase{"fp32", "fp32", "round", kLossless},
                                         WritesCase{"thc", "thc:bits=4", "round", kLossy},
                                         WritesCase{"threelc", "threelc", "round", kLossy},
                                         WritesCase{"topk", "topk:cr=0.01", "round", kLossy},
                                         WritesCase{"thc_30s", "thc:bits=4", "30s", kNotSynced}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace tributary::end_to_end
