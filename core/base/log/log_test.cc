// Tests of log lines as text and JSON: no value may break a line or control a terminal, and lines
// of several threads are not mixed.
#include "core/base/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "core/base/log/memory_log_testing.h"

namespace tributary {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::Pair;

constexpr std::chrono::system_clock::time_point kTime =
    std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + std::chrono::milliseconds(43'200'042);

std::string as_json(std::string_view message, Log::Fields fields = {}) {
  return json_line({LogLevel::info, "link", message, {fields.begin(), fields.size()}}, kTime);
}

std::string as_text(std::string_view message, Log::Fields fields = {}) {
  return text_line({LogLevel::info, "link", message, {fields.begin(), fields.size()}}, kTime);
}

TEST(JsonLine, MatchesTheExampleInTheHeader) {
  EXPECT_EQ(as_json("peer is slow", {{"peer", "agent 3"}, {"rtt_ms", 41.5}}),
            R"({"time":"2026-01-31T12:00:00.042Z","level":"info","component":"link",)"
            R"("message":"peer is slow","fields":{"peer":"agent 3","rtt_ms":41.5}})");
  EXPECT_EQ(json::parse(as_json("nothing more"))["fields"], json::object());
}

// A conversion through double would lose the limits of 64-bit integers.
TEST(JsonLine, KeepsTheTypesAndLimitsOfNumbers) {
  const auto fields =
      json::parse(as_json("numbers", {{"int", std::numeric_limits<std::int64_t>::min()},
                                      {"size", std::numeric_limits<std::uint64_t>::max()},
                                      {"short", std::int16_t{-3}},
                                      {"yes", true},
                                      {"tiny", 5e-324},
                                      {"float", 0.25f}}))["fields"];
  EXPECT_EQ(fields["int"].get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(fields["size"].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(fields["short"], -3);
  EXPECT_EQ(fields["yes"], true);
  EXPECT_EQ(fields["tiny"].get<double>(), 5e-324);
  EXPECT_EQ(fields["float"], 0.25);
}

TEST(JsonLine, WritesNonFiniteNumbersAsStrings) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto fields =
      json::parse(as_json("x", {{"a", std::nan("")}, {"b", inf}, {"c", -inf}}))["fields"];
  EXPECT_EQ(fields, (json{{"a", "nan"}, {"b", "inf"}, {"c", "-inf"}}));
}

// All ASCII characters, and the first and last characters of every length in UTF-8.
TEST(JsonLine, GivesBackEveryCharacterThatIsOne) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  all += "\u0080\u009b\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff";
  const std::string line = as_json(all, {{all, all}});
  EXPECT_EQ(json::parse(line)["message"], all);
  EXPECT_EQ(json::parse(line)["fields"][all], all);
}

// Pairs of invalid bytes and the expected number of replacement characters.
TEST(Lines, ReplaceEachByteThatIsNoUtf8) {
  const std::string replaced = "\ufffd";
  const std::vector<std::pair<std::string, int>> cases = {
      {"\x80", 1},              // a continuation byte alone
      {"\xc3", 1},              // truncated
      {"\xe2\x82", 2},          // truncated
      {"\xc0\xaf", 2},          // overlong '/'
      {"\xe0\x9f\xbf", 3},      // overlong
      {"\xed\xa0\x80", 3},      // a surrogate
      {"\xf0\x8f\xbf\xbf", 4},  // overlong
      {"\xf4\x90\x80\x80", 4},  // above U+10FFFF
      {"\xf5\x80\x80\x80", 4},
      {"\xff\xfe", 2},
  };
  for (const auto& [bytes, count] : cases) {
    std::string expected = "a";
    for (int i = 0; i < count; ++i) expected += replaced;
    EXPECT_EQ(json::parse(as_json("a" + bytes + "b"))["message"], expected + "b");
    EXPECT_NE(as_text("a" + bytes + "b").find(expected + "b"), std::string::npos);
  }
}

// Line ends would forge log lines; escape sequences could control an operator's terminal.
TEST(Lines, LetNoValueBreakTheLineOrTheTerminal) {
  const std::string hostile = "x\ny\r\t\x1b[31m\u009b31m\x7f";
  for (const std::string& line :
       {as_text(hostile, {{hostile, hostile}}), as_json(hostile, {{hostile, hostile}})}) {
    EXPECT_EQ(line.find_first_of("\n\r\t\x1b\x7f"), std::string::npos) << line;
    EXPECT_EQ(line.find("\u009b"), std::string::npos) << line;
  }
}

TEST(TextLine, QuotesOnlyWhereNecessary) {
  EXPECT_EQ(as_text("joined", {{"peer", "agent-3"},
                               {"name", "a b"},
                               {"empty", ""},
                               {"quote", "a\"b"},
                               {"count", 3u},
                               {"ok", false}}),
            "2026-01-31T12:00:00.042Z info link: joined peer=agent-3 name=\"a b\" empty=\"\" "
            "quote=\"a\\\"b\" count=3 ok=false");
}

TEST(MemoryLog, KeepsLoggedLines) {
  MemoryLog log(LogLevel::info);
  log.debug("round", "not kept");
  log.warning("round", "late", {{"agent", 3}, {"name", std::string("a b")}});
  const auto entries = log.entries();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].level, LogLevel::warning);
  EXPECT_EQ(entries[0].component, "round");
  EXPECT_EQ(entries[0].message, "late");
  EXPECT_THAT(entries[0].fields, ElementsAre(Pair("agent", "3"), Pair("name", "\"a b\"")));
}

TEST(MemoryLog, TakesEventsFromManyThreads) {
  MemoryLog log;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&log, t] {
      for (int i = 0; i < 100; ++i) log.info("test", "event", {{"thread", t}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log.entries().size(), 400u);
}

TEST(StreamLog, WritesTheChosenFormFromTheChosenLevelUp) {
  ManualClock clock;
  testing::internal::CaptureStderr();
  const auto text = make_stream_log({.level = LogLevel::warning, .clock = &clock});
  const auto structured =
      make_stream_log({.level = LogLevel::debug, .json = true, .clock = &clock});
  text->info("a", "left out");
  // A message must never be used as a format string.
  text->error("a", "{} is no format string");
  structured->debug("b", "kept", {{"n", 1}});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "2000-01-01T00:00:00.000Z error a: {} is no format string\n"
            R"({"time":"2000-01-01T00:00:00.000Z","level":"debug","component":"b",)"
            R"("message":"kept","fields":{"n":1}})"
            "\n");
}

// Lines of several threads must not mix.
TEST(StreamLog, WritesWholeLinesFromManyThreads) {
  testing::internal::CaptureStderr();
  {
    const auto log = make_stream_log({.json = true});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log] {
        for (int i = 0; i < 100; ++i) log->info("test", "event", {{"text", std::string(500, 'x')}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::istringstream lines(testing::internal::GetCapturedStderr());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(json::accept(line)) << line;
  }
  EXPECT_EQ(count, 400);
}

TEST(LogLevel, IsParsedByItsName) {
  for (auto level :
       {LogLevel::trace, LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error}) {
    EXPECT_EQ(*parse_log_level(name(level)), level);
  }
  EXPECT_EQ(parse_log_level("warn").status().text(),
            "invalid_argument: setting log.level: expected the name of a level, got 'warn'; "
            "known: trace, debug, info, warning, error");
  EXPECT_EQ(parse_log_level("eror").status().fault().remedy, "did you mean 'error'?");
}

}  // namespace
}  // namespace tributary
