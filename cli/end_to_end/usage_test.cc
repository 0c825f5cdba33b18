// Errors for invalid command lines, and the help texts.
#include <gmock/gmock.h>

#include <sstream>

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

// The names in the list of commands or subcommands of a help text.
std::vector<std::string> listed_in(const std::string& help) {
  std::vector<std::string> names;
  const std::size_t begin = help.find("ommands:\n");
  if (begin == help.npos) return names;
  std::istringstream lines(help.substr(begin));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    if (line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

// The longest line, in characters; help texts are ASCII.
std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(Usage, HelpsEverywhereWithExamples) {
  std::vector<std::vector<std::string>> all = {{}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string path = "tributary";
    for (const std::string& word : all[i]) path += " " + word;
    std::vector<std::string> args = all[i];
    args.emplace_back("--help");
    const Outcome outcome = run(args);
    EXPECT_EQ(outcome.code, 0) << path;
    EXPECT_EQ(outcome.err, "") << path;
    EXPECT_THAT(outcome.out, HasSubstr("\nUsage: " + path + " ")) << path;
    EXPECT_THAT(outcome.out, HasSubstr("examples:\n  " + path)) << path;
    EXPECT_LE(longest_line(outcome.out), 100u) << path << "\n" << outcome.out;
    for (const std::string& name : listed_in(outcome.out)) {
      all.push_back(all[i]);
      all.back().push_back(name);
    }
  }
  EXPECT_GE(all.size(), 40u) << "commands, subcommands and the program itself";
}

TEST(Usage, PrintsItsVersion) {
  const Outcome outcome = run({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("tributary [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace tributary
