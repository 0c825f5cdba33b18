// Processes that are killed while they store, and a second process that opens the journal too
// early. Nothing is synced: a kill loses nothing that the system has received, and the simulator
// covers power failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/store/agent/agent_journal.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/testing/describe_testing.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"
#include "core/store/testing/mirror_testing.h"

namespace tributary::store_testing {
namespace {

// A child process that sends a byte for each completed action, and is killed.
class Child {
 public:
  // `work` receives the function that reports.
  explicit Child(const std::function<void(const std::function<void()>&)>& work) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      work([&] {
        if (::write(ends[1], "", 1) != 1) ::_exit(2);
      });
      ::_exit(0);
    }
    ::close(ends[1]);
    reports_ = ends[0];
  }
  ~Child() {
    kill();
    ::close(reports_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // False: the child has ended.
  bool wait_for_report() {
    char byte = 0;
    const bool reported = ::read(reports_, &byte, 1) == 1;
    count_ += reported ? 1 : 0;
    return reported;
  }
  // Kills the child and returns the number of its reports.
  std::uint32_t kill() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
      process_ = -1;
      while (wait_for_report()) {
      }
    }
    return count_;
  }

 private:
  pid_t process_ = -1;
  int reports_ = -1;
  std::uint32_t count_ = 0;
};

// Delays by a random time, so that the kill does not always follow a report.
void dawdle(Draws& draws) {
  volatile std::uint32_t turns = draws.below(4) * draws.below(100'000);
  while (turns > 0) turns = turns - 1;
}

// Runs for both kinds of journal; Kind has the journal's type, life and mirror.
template <typename Kind>
class Crash : public testing::Test {
 protected:
  // Stores the records from number `first` on, without end.
  void store_from(std::uint32_t first, const std::function<void()>& report) {
    typename Kind::Life life(Kind::kSeed, Kind::kValues);
    for (std::uint32_t i = 0; i < first; ++i) life.next();
    auto journal = Kind::open(folder_);
    while (journal.ok() && (*journal)->store(life.next()).ok()) report();
  }

  std::string restored() {
    auto journal = Kind::open(folder_);
    EXPECT_TRUE(journal.ok()) << journal.status().text();
    if (!journal.ok()) return "nothing";
    const auto state = (*journal)->restore();
    EXPECT_TRUE(state.ok()) << state.status().text();
    return state.ok() ? described(*state) : "nothing";
  }

  Folder folder_;
};

struct CoordinatorKind {
  using Life = CoordinatorLife;
  using Mirror = CoordinatorMirror;
  static constexpr std::uint64_t kSeed = 3;
  static constexpr std::uint32_t kValues = 20'000;
  static auto open(const Folder& folder) {
    return CoordinatorJournal::open(
        {.journal = {
             .path = folder / "run.db", .durability = Durability::stop, .log_bytes = 256u << 10}});
  }
};
struct AgentKind {
  using Life = AgentLife;
  using Mirror = AgentMirror;
  static constexpr std::uint64_t kSeed = 4;
  static constexpr std::uint32_t kValues = 20'000;
  static auto open(const Folder& folder) {
    return AgentJournal::open(
        {.path = folder / "agent.db", .durability = Durability::stop, .log_bytes = 256u << 10});
  }
};

using Kinds = testing::Types<CoordinatorKind, AgentKind>;
TYPED_TEST_SUITE(Crash, Kinds);

// After each kill, all acknowledged records exist, and at most the one that was being stored.
TYPED_TEST(Crash, LosesNothingThatWasAcknowledged) {
  Draws draws(99);
  typename TypeParam::Life life(TypeParam::kSeed, TypeParam::kValues);
  typename TypeParam::Mirror mirror;
  std::uint32_t stored = 0;
  for (int kills = 0; kills < 15; ++kills) {
    Child child([&](const auto& report) { this->store_from(stored, report); });
    for (std::uint32_t wait = draws.below(12); wait > 0; --wait) {
      ASSERT_TRUE(child.wait_for_report());
    }
    dawdle(draws);
    const std::uint32_t acknowledged = stored + child.kill();
    for (; stored < acknowledged; ++stored) mirror.store(life.next());

    const std::string found = this->restored();
    if (found != described(mirror.state())) {
      mirror.store(life.next());
      ++stored;
      ASSERT_EQ(found, described(mirror.state())) << "kill " << kills << ", record " << stored;
    }
  }
  EXPECT_GT(stored, 50u) << "so little says nothing";
}

// A download continues after a complete run, and loses no acknowledged run.
TEST(CrashOfADownload, LosesNoRunThatWasAcknowledged) {
  constexpr std::size_t kRunBytes = 300'000;
  constexpr std::size_t kRuns = 64;
  const Folder folder;
  Draws draws(7);
  Bytes content(kRuns * kRunBytes);
  for (std::uint8_t& byte : content) byte = static_cast<std::uint8_t>(draws.next());
  const auto store_from = [&](std::size_t first, const std::function<void()>& report) {
    auto journal = AgentKind::open(folder);
    for (std::size_t i = first; journal.ok() && i < kRuns; ++i) {
      const ByteSpan run = ByteSpan(content).subspan(i * kRunBytes, kRunBytes);
      const DownloadRecord record{.job = 1,
                                  .hash = 2,
                                  .bytes = content.size(),
                                  .offset = i * kRunBytes,
                                  .data = std::make_shared<const Bytes>(run.begin(), run.end())};
      if (!(*journal)->store(record).ok()) return;
      report();
    }
  };
  std::size_t stored = 0;
  for (int kills = 0; kills < 8; ++kills) {
    Child child([&](const auto& report) { store_from(stored, report); });
    for (std::uint32_t wait = draws.below(6); wait > 0; --wait) {
      ASSERT_TRUE(child.wait_for_report());
    }
    dawdle(draws);
    const std::size_t acknowledged = stored + child.kill();

    auto journal = AgentKind::open(folder);
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    const auto state = (*journal)->restore();
    ASSERT_TRUE(state.ok()) << state.status().text();
    const Bytes received = state->download ? state->download->received : Bytes();
    stored = received.size() / kRunBytes;
    ASSERT_EQ(received.size() % kRunBytes, 0u) << "kill " << kills;
    ASSERT_GE(stored, acknowledged) << "kill " << kills;
    ASSERT_LE(stored, acknowledged + 1) << "kill " << kills;
    ASSERT_TRUE(std::equal(received.begin(), received.end(), content.begin())) << "kill " << kills;
  }
  EXPECT_GT(stored, 5u) << "too few runs were stored for the test to mean anything";
}

TYPED_TEST(Crash, ASecondProcessLearnsWhichProcessHasTheJournal) {
  Child child([&](const auto& report) { this->store_from(0, report); });
  ASSERT_TRUE(child.wait_for_report());
  const auto second = TypeParam::open(this->folder_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::already_exists);
  EXPECT_THAT(second.status().text(), testing::ContainsRegex("journal '.*\\.db'.*process [0-9]+"));
  child.kill();
  EXPECT_TRUE(TypeParam::open(this->folder_).ok()) << "the lock ends with its process";
}

TYPED_TEST(Crash, ASecondOneInTheSameProcessIsRefused) {
  const auto first = TypeParam::open(this->folder_);
  ASSERT_TRUE(first.ok()) << first.status().text();
  EXPECT_EQ(TypeParam::open(this->folder_).status().code(), StatusCode::already_exists);
}

// With a custom VFS there is no lock file, so SQLite's own lock must be sufficient.
TEST(OwnVfs, ASecondOneIsRefused) {
  const Folder folder;
  const JournalOptions options{.path = folder / "agent.db", .vfs = "unix"};
  const auto first = AgentJournal::open(options);
  ASSERT_TRUE(first.ok()) << first.status().text();
  const auto second = AgentJournal::open(options);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::unavailable) << second.status().text();
  EXPECT_TRUE(worth_retrying(second.status()));
}

TEST(OwnVfs, OneThatIsNotThereIsNamed) {
  const auto journal = AgentJournal::open({.path = "agent.db", .vfs = "nowhere"});
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.status().text(), testing::HasSubstr("nowhere"));
}

}  // namespace
}  // namespace tributary::store_testing
