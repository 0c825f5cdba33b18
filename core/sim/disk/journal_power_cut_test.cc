// An agent's journal when the power fails during any write or sync, its large vectors included.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/sim/disk/disk_vfs.h"
#include "core/store/agent/agent_journal.h"
#include "core/store/testing/describe_testing.h"
#include "core/store/testing/life_testing.h"
#include "core/store/testing/mirror_testing.h"

namespace tributary {
namespace {

using store_testing::AgentLife;
using store_testing::AgentMirror;
using store_testing::described;

constexpr std::uint32_t kLifeValues = 3000;
constexpr int kRecords = 14;
// Most operations of the disk for these records.
constexpr std::uint64_t kOperationsMax = 20'000;

// One machine, whose power fails once.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : disk_(SeededDraws(seed, DrawUse::disk, 0)) {
    vfs_.mount("machine", disk_);
  }
  Result<std::unique_ptr<AgentJournal>> open(Durability durability) {
    return AgentJournal::open({.path = "/machine/agent.db",
                               .vfs = vfs_.name(),
                               .durability = durability,
                               .boot_id = fmt::format("{}", boots_),
                               .log_bytes = 64u << 10,
                               .large_chunk_bytes = 256});
  }
  void power_off_after(std::uint64_t operations) { disk_.power_off_after(operations); }
  // The process ends without changing a file.
  void cut_power(std::unique_ptr<AgentJournal>& journal) {
    disk_.power_off();
    journal.reset();
    disk_.lose_unsynced();
    disk_.power_on();
    ++boots_;
  }

 private:
  VirtualDisk disk_;
  DiskVfs vfs_;
  int boots_ = 0;
};

std::string restored_text(AgentJournal& journal) {
  const auto state = journal.restore();
  return state.ok() ? described(*state) : state.status().text();
}

// Stores until the power fails after this many operations. False: it did not fail.
bool power_fails_after(std::uint64_t operations, bool& failed) {
  failed = true;
  Machine machine(operations);
  auto journal = machine.open(Durability::round);
  EXPECT_TRUE(journal.ok()) << journal.status().text();
  if (!journal.ok()) return false;
  AgentLife life(11, kLifeValues);
  AgentMirror mirror;
  machine.power_off_after(operations);
  std::optional<AgentRecordToStore> refused;
  for (int i = 0; i < kRecords && !refused; ++i) {
    const AgentRecordToStore record = life.next();
    if ((*journal)->store(record).ok()) {
      mirror.store(record);
    } else {
      refused = record;
    }
  }
  machine.cut_power(*journal);

  auto again = machine.open(Durability::round);
  EXPECT_TRUE(again.ok()) << again.status().text();
  if (!again.ok()) return false;
  EXPECT_FALSE((*again)->residual_dropped());
  std::string found = restored_text(**again);
  if (refused && found == described(mirror.state())) {
    EXPECT_EQ((*again)->store(*refused).text(), "ok");
    found = restored_text(**again);
  }
  if (refused) mirror.store(*refused);
  EXPECT_EQ(found, described(mirror.state()));
  if (found != described(mirror.state())) return false;
  const AgentRecordToStore next = life.next();
  EXPECT_EQ((*again)->store(next).text(), "ok");
  mirror.store(next);
  EXPECT_EQ(restored_text(**again), described(mirror.state()));
  failed = false;
  return refused.has_value();
}

TEST(JournalPowerCut, InAnyOperationLosesNoRecordThatIsDurable) {
  std::uint64_t operations = 0;
  bool failed = false;
  while (power_fails_after(operations, failed)) {
    ASSERT_LT(++operations, kOperationsMax);
  }
  ASSERT_FALSE(failed) << "power failure after " << operations << " operations";
  EXPECT_GT(operations, 100u) << "so few say nothing";
}

// The rows may refer to bytes that were written again since. Then the journal has no model, but
// never another one.
TEST(JournalPowerCut, LeavesAModelThatWasStoredOrNoneIfRecordsAreNotDurable) {
  int models = 0;
  int damaged = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Machine machine(seed);
    auto journal = machine.open(Durability::stop);
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    AgentLife life(seed, kLifeValues);
    std::vector<FloatVector> stored;
    for (std::uint64_t i = 0; i < 10 + seed; ++i) {
      const AgentRecordToStore record = life.next();
      ASSERT_EQ((*journal)->store(record).text(), "ok");
      const auto* replica = std::get_if<ReplicaRecord>(&record);
      if (replica && replica->model) stored.push_back(*replica->model);
    }
    machine.cut_power(*journal);

    auto again = machine.open(Durability::stop);
    ASSERT_TRUE(again.ok()) << again.status().text();
    EXPECT_TRUE((*again)->residual_dropped());
    const auto state = (*again)->restore();
    ASSERT_TRUE(state.ok()) << state.status().text();
    if (!state->replica) continue;
    EXPECT_EQ(state->replica->residual, nullptr);
    damaged += (*again)->damage().model ? 1 : 0;
    EXPECT_EQ((*again)->damage().model, state->replica->model == nullptr);
    if (!state->replica->model) continue;
    ++models;
    EXPECT_NE(std::ranges::find(stored, *state->replica->model), stored.end()) << seed;
  }
  EXPECT_GT(models, 0);
  EXPECT_GT(damaged, 0);
}

}  // namespace
}  // namespace tributary
