// Data sets: making, showing and sharding them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/end_to_end/program_testing.h"

namespace tributary {
namespace {

using Json = nlohmann::json;
using program_testing::Outcome;
using program_testing::ProgramTest;
using program_testing::run;
using testing::HasSubstr;
using testing::Not;

class DataTest : public ProgramTest {
 protected:
  static Json data(std::vector<std::string> args) {
    args.emplace_back("--json");
    const Outcome outcome = run(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out)["data"];
  }
  std::string made(const std::string& kind) const {
    const Outcome outcome = run({"data", "make", kind, "--out", path(kind), "--count", "300",
                                 "--test-count", "200", "--seed", "3"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return path(kind);
  }
};

TEST_F(DataTest, MakePrintsTheFilesItWrote) {
  const Json made = data({"data", "make", "text", "--out", path("t"), "--count", "2k",
                          "--test-count", "1k", "--seed", "1"});
  EXPECT_EQ(made["kind"], "text");
  EXPECT_EQ(made["count"], 2000);
  EXPECT_EQ(made["bytes"], 3000);
  EXPECT_EQ(made["files"].size(), 2u);
  EXPECT_GT(made["entropy_bits_per_character"], 0.25);
  EXPECT_EQ(read("t/train.txt").size(), 2000u);
}

TEST_F(DataTest, ShowDescribesMadeData) {
  const Json digits = data({"data", "show", made("digits")});
  EXPECT_EQ(digits["format"], "idx");
  EXPECT_EQ(digits["count"], 300);
  EXPECT_EQ(digits["shape"], (Json{1, 28, 28}));
  std::uint64_t sum = 0;
  for (const std::uint64_t count : digits["histogram"]) sum += count;
  EXPECT_EQ(sum, 300u);
  EXPECT_EQ(digits["features"]["max"], 1.0);
  const Json shapes = data({"data", "show", made("shapes"), "--part", "test"});
  EXPECT_EQ(shapes["format"], "cifar10");
  EXPECT_EQ(shapes["count"], 200);
  const Json text = data({"data", "show", made("text"), "--tokens", "16"});
  EXPECT_EQ(text["task"], "next_token");
  EXPECT_EQ(text["count"], 18);
  EXPECT_EQ(text["classes"], 97);
}

TEST_F(DataTest, ShowDrawsExamples) {
  const Outcome digits = run({"data", "show", made("digits"), "--examples", "2"});
  EXPECT_THAT(digits.out, HasSubstr("example 1, class "));
  EXPECT_THAT(digits.out, HasSubstr("@@"));
  EXPECT_THAT(run({"data", "show", made("digits"), "--examples", "0"}).out,
              Not(HasSubstr("example 0")));
}

TEST_F(DataTest, ShardsHaveEveryExampleOnce) {
  for (const char* alpha : {"0", "0.3"}) {
    const Json shards = data({"data", "shards", made("digits"), "--agents", "3", "--alpha", alpha});
    std::uint64_t sum = 0;
    for (const Json& shard : shards["shards"]) {
      std::uint64_t of_classes = 0;
      for (const std::uint64_t count : shard["histogram"]) of_classes += count;
      EXPECT_EQ(shard["count"], of_classes);
      sum += of_classes;
    }
    EXPECT_EQ(sum, 300u);
  }
  const Outcome table = run({"data", "shards", made("digits"), "--agents", "3"});
  EXPECT_THAT(table.out, HasSubstr("class 9"));
}

TEST_F(DataTest, ErrorsNameARemedy) {
  const Outcome nothing = run({"data", "show", path("nowhere")});
  EXPECT_EQ(nothing.code, 21);
  EXPECT_THAT(nothing.err, HasSubstr("check the path"));
  const std::string table = write("x.csv", bytes_of(std::string_view("a,b\n1,2\n3,\n")));
  const Outcome gap = run({"data", "show", table});
  EXPECT_EQ(gap.code, 11);
  EXPECT_THAT(gap.err, HasSubstr("line 3, column 2"));
  const Outcome skew = run({"data", "shards", made("text"), "--alpha", "0.3"});
  EXPECT_EQ(skew.code, 10);
  EXPECT_THAT(skew.err, HasSubstr("data without classes"));
  EXPECT_EQ(run({"data", "make", "digits", "--out", path("d"), "--count", "0"}).code, 2);
  EXPECT_EQ(run({"data", "make", "circles", "--out", path("d")}).code, 2);
}

}  // namespace
}  // namespace tributary
