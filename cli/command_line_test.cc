// Tests of parsing a command line, with commands about boats that cover every kind of option.
#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/accept.h"

namespace tributary {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Three commands of one noun and one command without a verb: options that are required, repeatable,
// numbers or flags, and positional arguments.
class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    const auto run = [](World&) -> Result<Answer> { return Answer{}; };
    commands_.push_back({.noun = "boat",
                         .verb = "build",
                         .summary = "build a boat",
                         .details = "examples:\n  tributary boat build --name Swan",
                         .options = {{.name = "--name",
                                      .value_name = "TEXT",
                                      .help = "its name",
                                      .accept = accept_file(name_),
                                      .required = true},
                                     {.name = "--oar",
                                      .value_name = "KIND",
                                      .help = "an oar",
                                      .accept = accept_files(oars_),
                                      .repeatable = true},
                                     {.name = "--seats",
                                      .value_name = "N",
                                      .help = "seats",
                                      .accept = accept_count(seats_, 1u, 9u)},
                                     {.name = "--no-paint",
                                      .value_name = {},
                                      .help = "leave the wood bare",
                                      .accept = accept_flag(paint_, false)}},
                         .run = run});
    commands_.push_back({.noun = "boat",
                         .verb = "paint",
                         .summary = "paint it",
                         .details = {},
                         .options = {{.name = "COLOUR",
                                      .value_name = "COLOUR",
                                      .help = "its colour",
                                      .accept = accept_text(colour_),
                                      .required = true},
                                     {.name = "PART",
                                      .value_name = "PART",
                                      .help = "one part only",
                                      .accept = accept_text(part_)},
                                     {.name = "WORD",
                                      .value_name = "WORD",
                                      .help = "the painter's program",
                                      .accept = accept_files(oars_),
                                      .required = true,
                                      .repeatable = true}},
                         .run = run});
    commands_.push_back({.noun = "boat",
                         .verb = "sink",
                         .summary = "sink it",
                         .details = {},
                         .options = {},
                         .run = run});
    commands_.push_back(
        {.noun = "swim", .verb = {}, .summary = "swim", .details = {}, .options = {}, .run = run});
  }

  Result<CommandLine> parse(const std::vector<std::string>& args) {
    static constexpr Noun kNouns[] = {{"boat", "boats", "examples:\n  tributary boat sink"}};
    return parse_command_line(kNouns, commands_, args);
  }
  std::string error(const std::vector<std::string>& args) { return parse(args).status().text(); }

  std::string name_, colour_, part_;
  std::vector<std::string> oars_;
  unsigned seats_ = 2;
  bool paint_ = true;
  std::vector<Command> commands_;
};

// Both forms of a value, "--name=Swan" and "--seats 4", and a repeatable option whose value begins
// with a bracket.
TEST_F(CommandLineTest, SetsOptions) {
  const auto line = parse({"boat", "build", "--name=Swan", "--oar", "long", "--seats", "4",
                           "--no-paint", "--oar", "[short,broad]"});
  ASSERT_TRUE(line.ok()) << line.status().text();
  EXPECT_EQ(line.value().command, &commands_[0]);
  EXPECT_FALSE(line.value().json);
  EXPECT_EQ(name_, "Swan");
  EXPECT_THAT(oars_, ElementsAre("long", "[short,broad]"));
  EXPECT_EQ(seats_, 4u);
  EXPECT_FALSE(paint_);
}

// Also for an unknown command, so that a script gets its error as JSON.
TEST_F(CommandLineTest, EveryCommandTakesJson) {
  EXPECT_TRUE(parse({"boat", "sink", "--json"}).value().json);
  EXPECT_TRUE(parse({"swim", "--json"}).value().json);
  EXPECT_FALSE(parse({"swim"}).value().json);
  EXPECT_TRUE(asks_for_json({"boat", "snik", "--json"}));
  EXPECT_FALSE(asks_for_json({"boat", "sink"}));
}

// A suggestion only if a word is near; otherwise all known words.
TEST_F(CommandLineTest, NamesTheNearestWord) {
  EXPECT_THAT(error({"baot", "build"}), AllOf(HasSubstr("'baot'"), HasSubstr("'boat'?")));
  EXPECT_THAT(error({"boat", "bild"}), HasSubstr("did you mean 'build'?"));
  EXPECT_THAT(error({"boat", "varnish"}), HasSubstr("known: build, paint, sink"));
  EXPECT_THAT(error({"boat", "build", "--nam", "x"}), HasSubstr("did you mean '--name'?"));
  EXPECT_THAT(error({"boat", "build", "--oars=long"}), HasSubstr("'--oars'"));
  EXPECT_THAT(error({"boat", "sink", "--jsno"}), HasSubstr("did you mean '--json'?"));
  EXPECT_THAT(error({"--verison"}), HasSubstr("did you mean '--version'?"));
}

// The misspelt option is the cause, the missing one its consequence.
TEST_F(CommandLineTest, AnUnknownOptionCountsBeforeAMissingOne) {
  EXPECT_THAT(error({"boat", "build", "--nmae", "Swan"}), HasSubstr("'--name'?"));
}

// The error names the kind of value that is missing.
TEST_F(CommandLineTest, ReportsMissingOptions) {
  EXPECT_THAT(error({}), AllOf(HasSubstr("a command"), HasSubstr("boat, swim")));
  EXPECT_THAT(error({"boat"}), AllOf(HasSubstr("a subcommand"), HasSubstr("build, paint, sink")));
  EXPECT_THAT(error({"boat", "build"}), HasSubstr("expected --name TEXT, got nothing"));
  EXPECT_THAT(error({"boat", "build", "--name"}), HasSubstr("--name: 1 required TEXT missing"));
}

// A word without a meaning is more likely a mistake than decoration.
TEST_F(CommandLineTest, RefusesSurplusWords) {
  EXPECT_THAT(error({"boat", "build", "--name", "a", "--name", "b"}),
              HasSubstr("expected the option once, got 2"));
  EXPECT_THAT(error({"boat", "sink", "now"}), HasSubstr("'now' after 'tributary boat sink'"));
  EXPECT_THAT(error({"swim", "boat"}), HasSubstr("'boat' after 'tributary swim'"));
  EXPECT_THAT(error({"boat", "sink", "build"}), HasSubstr("'build' after 'tributary boat sink'"));
}

// A value may begin with a dash if it is a number.
TEST_F(CommandLineTest, NamesTheOptionOfABadValue) {
  EXPECT_THAT(error({"boat", "build", "--name", "a", "--seats", "10"}),
              HasSubstr("option '--seats': value: expected a whole number from 1 to 9"));
  EXPECT_THAT(error({"boat", "build", "--name", "a", "--seats", "-1"}), HasSubstr("'-1'"));
}

// The program, a noun, and a command with its options and examples.
TEST_F(CommandLineTest, HelpsOnEveryLevel) {
  const auto help = [&](const std::vector<std::string>& args) { return parse(args).value().text; };
  EXPECT_THAT(help({"--help"}), AllOf(HasSubstr("boats"), HasSubstr("swim")));
  EXPECT_THAT(help({"boat", "-h"}), AllOf(HasSubstr("build a boat"), HasSubstr("sink it")));
  EXPECT_THAT(help({"boat", "build", "--help"}),
              AllOf(HasSubstr("--name TEXT (required)"), HasSubstr("--oar KIND ..."),
                    HasSubstr("examples:\n  tributary boat build"), HasSubstr("--json")));
}

// Required arguments first, optional ones in brackets, repeatable ones after "--".
TEST_F(CommandLineTest, UsageShowsRequiredArguments) {
  const auto help = [&](const std::vector<std::string>& args) { return parse(args).value().text; };
  EXPECT_THAT(help({"--help"}), HasSubstr("Usage: tributary COMMAND [OPTIONS]\n"));
  EXPECT_THAT(help({"boat", "--help"}),
              AllOf(HasSubstr("Usage: tributary boat SUBCOMMAND [OPTIONS]\n"),
                    HasSubstr("examples:\n  tributary boat sink")));
  EXPECT_THAT(help({"boat", "build", "--help"}),
              HasSubstr("Usage: tributary boat build --name TEXT [OPTIONS]\n"));
  EXPECT_THAT(help({"boat", "paint", "--help"}),
              AllOf(HasSubstr("Usage: tributary boat paint COLOUR [PART] [OPTIONS] -- WORD ...\n"),
                    HasSubstr("Arguments:\n  COLOUR   ")));
}

// No command runs.
TEST_F(CommandLineTest, PrintsItsVersion) {
  const Result<CommandLine> line = parse({"--version"});
  EXPECT_EQ(line.value().command, nullptr);
  EXPECT_THAT(line.value().text, testing::MatchesRegex("tributary [0-9.]+\n"));
}

}  // namespace
}  // namespace tributary
