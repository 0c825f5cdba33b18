// Errors for invalid command lines, and the help texts.
#include <gmock/gmock.h>

#include "cli/end_to_end/program_testing.h"

namespace tributary {
namespace {

using program_testing::Outcome;
using program_testing::run;
using testing::HasSubstr;

void expect_usage_error(const std::vector<std::string>& args, const std::string& answer) {
  const Outcome outcome = run(args);
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(answer));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(Usage, NamesTheNearest) {
  expect_usage_error({"codek", "list"}, "did you mean 'codec'?");
  expect_usage_error({"codec", "mesure"}, "did you mean 'measure'?");
  expect_usage_error({"codec", "list", "--jsom"}, "did you mean '--json'?");
  expect_usage_error({"codec", "encode", "--bucket_value", "3"}, "did you mean '--bucket-values'?");
  expect_usage_error({"codec", "measure", "--codec", "int8:rounding=rendom", "--in", "x"},
                     "did you mean 'random'?");
  expect_usage_error({"codec", "measure", "--codec", "in8", "--in", "x"}, "did you mean 'int8'?");
  expect_usage_error({"codec", "compare", "--codec", "int8:bloc=64"}, "did you mean 'block'?");
}

TEST(Usage, RefusesNumbersOutOfRange) {
  expect_usage_error({"codec", "compare", "--agents", "0"},
                     "expected a whole number from 1 to 1024, got '0'");
  expect_usage_error(
      {"codec", "encode", "--codec", "fp32", "--in", "x", "--out", "y", "--threads", "many"},
      "option '--threads'");
  expect_usage_error({"plan", "table", "--bits", "4", "--p", "0.7"}, "0.5, got '0.7'");
  expect_usage_error(
      {"plan", "collective", "--alpha-ms", "1", "--gbps", "0", "--params", "1M", "--agents", "4"},
      "to 10000, got '0'");
  expect_usage_error({"codec", "measure", "--codec", "int8:block=100", "--in", "x"},
                     "a power of two from 64 to 65536, got '100'");
}

TEST(Usage, StandardStreamsAreNoFiles) {
  expect_usage_error({"codec", "encode", "--codec", "fp32", "--in", "-", "--out", "y"}, "'./-'");
}

TEST(Usage, ControlCharactersDoNotReachTheTerminal) {
  expect_usage_error({"\x1b[2Jlist"}, "'\\x1b[2Jlist'");
}

TEST(Usage, HelpsEverywhereWithExamples) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"codec", "list"},
                                             {"codec", "encode"},
                                             {"codec", "decode"},
                                             {"codec", "measure"},
                                             {"keys", "new"},
                                             {"keys", "show"},
                                             {"keys", "allow"},
                                             {"keys", "revoke"},
                                             {"plan", "table"},
                                             {"plan", "collective"},
                                             {"plan", "fusion"},
                                             {"codec", "compare"}}) {
    std::vector<std::string> args = words;
    args.emplace_back("--help");
    const Outcome outcome = run(args);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("examples:\n  tributary " + words[0]));
  }
  EXPECT_THAT(run({"--help"}).out, HasSubstr("codec"));
  EXPECT_THAT(run({"codec", "--help"}).out, HasSubstr("measure"));
}

TEST(Usage, PrintsItsVersion) {
  const Outcome outcome = run({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("tributary [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace tributary
