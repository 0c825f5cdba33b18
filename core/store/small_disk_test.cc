// Journals on a disk of 40 MB, which the log alone could fill.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/store/agent/agent_journal.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"
#include "core/store/testing/small_disk_testing.h"

namespace tributary::store_testing {
namespace {

constexpr std::uint64_t kSmallDisk = 40u << 20;

// A vector of 6 MB that shares no page with that of another number.
SharedFloats vector_of(std::uint64_t number) {
  auto floats = std::make_shared<FloatVector>(1'500'000);
  auto bits = static_cast<std::uint32_t>(number);
  for (float& value : *floats)
    value = static_cast<float>((bits = bits * 1664525 + 1013904223) >> 8);
  return floats;
}

// Counts the records that were stored and refused.
struct Tries {
  int done = 0;
  int refused = 0;
  std::string trouble;  // a refusal of the second try, or another error

  // A refused record must be stored at the second try.
  template <typename Store>
  void try_twice(const Store& store) {
    Status status = store();
    if (status.code() == StatusCode::resource_exhausted) {
      ++refused;
      status = store();
    }
    if (status.ok()) {
      ++done;
    } else if (trouble.empty()) {
      trouble = fmt::format("after {} records: {}", done, status.text());
    }
  }
};

// Model and residual of 6 MB each: twice that in the file, and as much in the log with each record.
std::string agent_on_a_small_disk(const Folder& folder) {
  const JournalOptions options{.path = folder / "agent.db"};
  std::uint64_t number = 0;
  ReplicaRecord replica;
  replica.job = 1;
  Tries tries;
  for (int life = 0; life < 2; ++life) {
    const auto journal = AgentJournal::open(options);
    if (!journal.ok()) return journal.status().text();
    for (int i = 0; i < 4; ++i) {
      replica.model = vector_of(++number);
      replica.residual = vector_of(++number);
      tries.try_twice([&] { return (*journal)->store(replica); });
    }
    const auto state = (*journal)->restore();
    if (!state.ok()) return state.status().text();
    if (!state->replica || *state->replica->model != *replica.model) return "another model";
  }
  return tries.trouble.empty() && tries.done == 8 ? "ok" : tries.trouble;
}

TEST(SmallDisk, AnAgentContinues) {
  const Folder folder;
  const OnSmallDisk disk =
      on_small_disk(folder / "", kSmallDisk, [&] { return agent_on_a_small_disk(folder); });
  if (!disk.skipped.empty()) GTEST_SKIP() << disk.skipped;
  EXPECT_EQ(disk.outcome, "ok");
}

// A new model in each record, as after rounds with a checkpoint each.
class SmallCoordinator {
 public:
  explicit SmallCoordinator(const Folder& folder) : path_(folder / "run.db") {}

  Status open() {
    record_.job.job = record_.checkpoint.job = 1;
    Draws draws(4);
    record_.job.policy = made_up_policy(draws);
    TRIBUTARY_ASSIGN(journal_, CoordinatorJournal::open({.journal = {.path = path_}}));
    return {};
  }
  Status store() {
    record_.checkpoint.model_version = version_ + 1;
    record_.checkpoint.model = vector_of(version_ + 1);
    TRIBUTARY_TRY(journal_->store(record_));
    ++version_;
    return {};
  }
  std::uint64_t version() const { return version_; }
  Result<std::uint64_t> restored_version() {
    TRIBUTARY_ASSIGN(const CoordinatorState state, journal_->restore());
    return state.jobs.empty() ? 0 : state.jobs.front().checkpoint.model_version;
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  NewJobRecord record_;
  std::uint64_t version_ = 0;
  std::unique_ptr<CoordinatorJournal> journal_;
};

std::string coordinator_on_a_small_disk(const Folder& folder) {
  SmallCoordinator coordinator(folder);
  if (Status status = coordinator.open(); !status.ok()) return status.text();
  const auto reader = RunFile::open(coordinator.path());
  if (!reader.ok()) return reader.status().text();
  Tries tries;
  for (int i = 0; i < 12; ++i) {
    tries.try_twice([&] { return coordinator.store(); });
    if (!(*reader)->jobs().ok()) return "the reader";
  }
  const auto version = coordinator.restored_version();
  if (!version.ok()) return version.status().text();
  if (*version != coordinator.version()) return fmt::format("version {}", *version);
  return tries.trouble.empty() ? "ok" : tries.trouble;
}

TEST(SmallDisk, ACoordinatorWithAReaderContinues) {
  const Folder folder;
  const OnSmallDisk disk =
      on_small_disk(folder / "", kSmallDisk, [&] { return coordinator_on_a_small_disk(folder); });
  if (!disk.skipped.empty()) GTEST_SKIP() << disk.skipped;
  EXPECT_EQ(disk.outcome, "ok");
}

// While a reader's transaction lasts, the log cannot start again, and the disk fills up.
std::string held_up_on_a_small_disk(const Folder& folder) {
  SmallCoordinator coordinator(folder);
  if (Status status = coordinator.open(); !status.ok()) return status.text();
  if (Status status = coordinator.store(); !status.ok()) return status.text();
  const auto reader = RunFile::open(coordinator.path());
  if (!reader.ok()) return reader.status().text();
  Database& held = (*reader)->database();
  if (!held.execute("BEGIN; SELECT count(*) FROM jobs").ok()) return "no transaction";
  Status full;
  for (int i = 0; i < 20 && full.ok(); ++i) full = coordinator.store();
  if (full.code() != StatusCode::resource_exhausted) return "not full: " + full.text();
  if (coordinator.store().ok()) return "stored what has no room";
  if (!held.execute("COMMIT").ok()) return "no end of the transaction";
  Tries tries;
  for (int i = 0; i < 6; ++i) tries.try_twice([&] { return coordinator.store(); });
  return tries.trouble.empty() ? "ok" : tries.trouble;
}

TEST(SmallDisk, ACoordinatorContinuesAfterAReaderHasEnded) {
  const Folder folder;
  const OnSmallDisk disk =
      on_small_disk(folder / "", kSmallDisk, [&] { return held_up_on_a_small_disk(folder); });
  if (!disk.skipped.empty()) GTEST_SKIP() << disk.skipped;
  EXPECT_EQ(disk.outcome, "ok");
}

}  // namespace
}  // namespace tributary::store_testing
