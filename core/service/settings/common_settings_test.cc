// Tests of the command line and the common settings of both daemons.
#include "core/service/settings/common_settings.h"

#include <gtest/gtest.h>

#include <new>
#include <sstream>
#include <stdexcept>

#include "core/base/exit_codes.h"

namespace tributary {
namespace {

const DaemonAbout kAbout = {
    .program = "daemon", .summary = "does", .examples = "  daemon --check", .takes_job = true};

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome run_with(std::vector<std::string> words,
                 const std::function<Status(const DaemonFlags&)>& run) {
  words.insert(words.begin(), "daemon");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  std::ostringstream out;
  std::ostringstream err;
  const int code =
      daemon_main(kAbout, static_cast<int>(arguments.size()), arguments.data(), out, err, run);
  return {.code = code, .out = out.str(), .err = err.str()};
}

Outcome run_with(const std::vector<std::string>& words) {
  return run_with(words, [](const DaemonFlags&) { return Status(); });
}

TEST(DaemonMain, ParsesItsFlags) {
  DaemonFlags seen;
  const Outcome outcome = run_with({"-c", "file.toml", "--set", "a=1", "-s", "b=2", "--job",
                                    "job.toml", "--check", "--exit-when-done"},
                                   [&](const DaemonFlags& flags) {
                                     seen = flags;
                                     return Status();
                                   });
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(seen.config, "file.toml");
  EXPECT_EQ(seen.assignments, (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_EQ(seen.job, "job.toml");
  EXPECT_TRUE(seen.check);
  EXPECT_TRUE(seen.exit_when_done);
}

TEST(DaemonMain, AnswersHelpAndVersionItself) {
  const auto never = [](const DaemonFlags&) -> Status { throw std::logic_error("ran"); };
  const std::string help = run_with({"--help"}, never).out;
  EXPECT_NE(help.find("--exit-when-done"), std::string::npos);
  EXPECT_NE(help.find("examples:\n  daemon --check"), std::string::npos) << help;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_TRUE(run_with({"--version"}, never).out.starts_with("daemon "));
}

TEST(DaemonMain, AnUnknownWordIsAnErrorOfTheCommandLine) {
  for (const char* word : {"--nonsense", "stray"}) {
    const Outcome outcome = run_with({word});
    EXPECT_EQ(outcome.code, kExitUsage) << word;
    EXPECT_NE(outcome.err.find("--help"), std::string::npos) << outcome.err;
  }
}

TEST(DaemonMain, ReportsItsEndByExitCodeAndText) {
  const Outcome failed = run_with({}, [](const DaemonFlags&) {
    return Status(StatusCode::already_exists,
                  {.what = "the journal", .expected = {}, .got = {}, .remedy = {}});
  });
  EXPECT_EQ(failed.code, 22);
  EXPECT_NE(failed.err.find("the journal"), std::string::npos) << failed.err;
  EXPECT_EQ(run_with({}, [](const DaemonFlags&) -> Status { throw std::bad_alloc(); }).code, 30);
  EXPECT_EQ(run_with({}, [](const DaemonFlags&) -> Status { throw std::runtime_error("x"); }).code,
            70);
}

TEST(CommonSettings, TheLogIsAsConfiguredOrRefused) {
  CommonSettings common;
  Settings settings;
  common.bind(settings);
  ASSERT_TRUE(settings.assign("log.level=debug").ok());
  ASSERT_TRUE(settings.assign("log.json=true").ok());
  const Result<LogOptions> options = common.log_options();
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->level, LogLevel::debug);
  EXPECT_TRUE(options->json);
  ASSERT_TRUE(settings.assign("log.level=loud").ok());
  EXPECT_EQ(common.log_options().status().code(), StatusCode::invalid_argument);
}

TEST(CommonSettings, CodecsHaveTheThreadsThatTrainingLeaves) {
  const auto settled = [](std::uint32_t threads, std::size_t processors, std::size_t training) {
    CommonSettings common;
    common.threads = threads;
    common.settle_threads(processors, training);
    return common.threads;
  };
  EXPECT_EQ(settled(0, 6, 1), 5u);
  EXPECT_EQ(settled(0, 6, 0), 6u);
  EXPECT_EQ(settled(0, 6, 6), 1u) << "the loop works in any case";
  EXPECT_EQ(settled(0, 2, 8), 1u);
  EXPECT_EQ(settled(0, 128, 1), 16u);
  EXPECT_EQ(settled(3, 2, 2), 3u) << "a setting is taken as it is";
}

TEST(Fill, AssignmentsComeAfterTheFile) {
  CommonSettings common;
  Settings settings;
  common.bind(settings);
  DaemonFlags flags;
  flags.config = "/nowhere/at/all.toml";
  EXPECT_EQ(fill(settings, flags).code(), StatusCode::not_found);
  flags.config.clear();
  flags.assignments = {"stop.grace_ms=1", "stop.grace_ms=2"};
  ASSERT_TRUE(fill(settings, flags).ok());
  EXPECT_EQ(common.stop_grace_ms, 2u);
  flags.assignments = {"stop.grace=1"};
  EXPECT_EQ(fill(settings, flags).code(), StatusCode::invalid_argument);
}

TEST(KeysFor, WithoutEncryptionAndWithoutAFileAPairIsMade) {
  EXPECT_TRUE(keys_for("", false).ok());
  EXPECT_FALSE(keys_for("", true).ok());
  EXPECT_FALSE(keys_for("/nowhere/at/all.key", false).ok());
}

}  // namespace
}  // namespace tributary
