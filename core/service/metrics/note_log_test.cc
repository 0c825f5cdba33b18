// Tests of logging notes: one line per source and minute, all of them counted, and a bound on
// sources.
#include "core/service/metrics/note_log.h"

#include <gtest/gtest.h>

#include "core/base/log/memory_log_testing.h"

namespace tributary {
namespace {

class CountingMetrics final : public Metrics {
 public:
  void count(std::string_view, const Labels&, double by) override { counted += by; }
  void set(std::string_view, double, const Labels&) override {}
  double counted = 0;
};

struct NoteLogTest : ::testing::Test {
  void warn(const std::string& source, std::string_view reason = "malformed") {
    notes.note(
        {.level = LogLevel::warning, .name = "frame_refused", .reason = reason, .source = source});
  }

  MemoryLog log;
  ManualClock clock;
  CountingMetrics metrics;
  NoteLog notes{log, clock, metrics};
};

TEST_F(NoteLogTest, ASourceIsLoggedOnceAMinuteAndCountedEveryTime) {
  for (int i = 0; i < 100; ++i) warn("agent");
  EXPECT_EQ(log.entries().size(), 1u);
  EXPECT_EQ(metrics.counted, 100);
  clock.advance(std::chrono::minutes(1));
  warn("agent");
  const auto entries = log.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].fields.back(),
            (std::pair<std::string, std::string>("unlogged_before", "99")));
}

TEST_F(NoteLogTest, AnotherSourceOrReasonIsAnotherLine) {
  warn("a");
  warn("b");
  warn("a", "too_large");
  EXPECT_EQ(log.entries().size(), 3u);
}

TEST_F(NoteLogTest, NotesBelowAWarningAreAlwaysLogged) {
  for (int i = 0; i < 3; ++i) notes.note({.level = LogLevel::info, .name = "job_changed"});
  EXPECT_EQ(log.entries().size(), 3u);
}

TEST_F(NoteLogTest, InventedSourcesDoNotFillTheLog) {
  for (int i = 0; i < 10'000; ++i) warn("source " + std::to_string(i));
  EXPECT_LE(log.entries().size(), 4097u);
  EXPECT_LE(notes.remembered(), 4097u);
  EXPECT_EQ(metrics.counted, 10'000);
  clock.advance(std::chrono::minutes(2));
  const std::size_t before = log.entries().size();
  warn("after that");
  EXPECT_EQ(log.entries().size(), before + 1);
  EXPECT_EQ(notes.remembered(), 1u) << "what is over is forgotten";
}

TEST_F(NoteLogTest, LoggedNotesAreStoredToo) {
  std::vector<std::string> kept;
  NoteLog keeping(log, clock, metrics, [&](const Note& note) { kept.emplace_back(note.name); });
  for (int i = 0; i < 3; ++i) {
    keeping.note({.level = LogLevel::warning, .name = "frame_refused", .source = "a"});
    keeping.note({.level = LogLevel::info, .name = "job_changed"});
    keeping.note({.level = LogLevel::debug, .name = "payload_late"});
  }
  EXPECT_EQ(kept, (std::vector<std::string>{"frame_refused", "job_changed", "job_changed",
                                            "job_changed"}));
}

}  // namespace
}  // namespace tributary
