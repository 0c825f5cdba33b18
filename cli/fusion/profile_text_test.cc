// Tests of reading a profile of tensors from JSON, with errors that name the key.
#include "cli/fusion/profile_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

namespace tributary {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kCost = R"({"alpha_s":0.5,"beta_s_per_byte":0.25})";

std::string with(std::string_view lists, std::string_view costs) {
  return fmt::format("{{{},{}}}", lists, costs);
}

// A profile with these lists and valid costs.
std::string with_lists(std::string_view lists) {
  return with(lists, fmt::format(R"("compress":{},"network":{})", kCost, kCost));
}

// A profile with these costs and two tensors of 3 and 40 bytes.
std::string with_costs(std::string_view costs) {
  return with(R"("backward_s":[1,2.5],"bytes":[3,4e1])", costs);
}

Result<FusionProfile> parse(const std::string& text) {
  return parse_fusion_profile(bytes_of(text));
}

// Expects an error that names the place (`what`) and the mistake or the remedy (`more`).
void expect_refused(const std::string& text, StatusCode code, const std::string& what,
                    const std::string& more) {
  const Status status = parse(text).status();
  EXPECT_EQ(status.code(), code) << text;
  if (status.ok()) return;
  EXPECT_THAT(status.text(), AllOf(HasSubstr(what), HasSubstr(more))) << text;
}

// The ratio of the network scales its time per byte: 0.25 s times 0.5.
TEST(FusionProfileText, Whole) {
  const auto profile =
      parse(with_costs(R"("compress":{"alpha_s":1,"beta_s_per_byte":0.5},)"
                       R"("network":{"alpha_s":2,"beta_s_per_byte":0.25,"ratio":0.5},)"
                       R"("decode":{"alpha_s":3,"beta_s_per_byte":0.75,"agents":4})"));
  ASSERT_TRUE(profile.ok()) << profile.status().text();
  EXPECT_THAT(profile->backward_s, ElementsAre(1, 2.5));
  EXPECT_THAT(profile->bytes, ElementsAre(3, 40));
  EXPECT_EQ(profile->compress.alpha_s, 1);
  EXPECT_EQ(profile->compress.beta_s_per_byte, 0.5);
  EXPECT_EQ(profile->network.alpha_s, 2);
  EXPECT_EQ(profile->network.beta_s_per_byte, 0.125);
  EXPECT_EQ(profile->decode.alpha_s, 3);
  EXPECT_EQ(profile->decode.beta_s_per_byte, 0.75);
  EXPECT_EQ(profile->decode_agents, 4u);
}

// Without `decode` it costs nothing; without a ratio all bytes are sent.
TEST(FusionProfileText, OptionalFieldsMayBeLeftOut) {
  const auto profile =
      parse(with_costs(fmt::format(R"("network":{},"compress":{})", kCost, kCost)));
  ASSERT_TRUE(profile.ok()) << profile.status().text();
  EXPECT_EQ(profile->network.beta_s_per_byte, 0.25);
  EXPECT_EQ(profile->decode.alpha_s, 0);
  EXPECT_EQ(profile->decode.beta_s_per_byte, 0);
  EXPECT_EQ(profile->decode_agents, 1u);
}

// Syntax errors, numbers that JSON does not have, and texts that are too deep or too long to be
// parsed.
TEST(FusionProfileText, MustBeJson) {
  for (const char* const text :
       {"", "{", "nan", R"({"backward_s":[NaN]})", R"({"backward_s":[1e999]})", "\xff"}) {
    expect_refused(text, StatusCode::corrupt_data, "profile", "expected JSON");
  }
  for (const char* const text : {"[]", "3", "null", "\"x\""}) {
    expect_refused(text, StatusCode::invalid_argument, "profile", "an object of lists and costs");
  }
  expect_refused(R"({"bytes":[[[1]]]})", StatusCode::invalid_argument, "profile", "a deeper one");
  expect_refused(std::string(kFusionTextBytesMax + 1, ' '), StatusCode::resource_exhausted,
                 "profile", "1048577");
  const std::string deep(100'000, '[');
  EXPECT_FALSE(parse(deep).ok());
}

// A key that is ignored silently would be taken for one in force.
TEST(FusionProfileText, KeysMustBeKnown) {
  expect_refused(R"({"backwards_s":[1]})", StatusCode::invalid_argument, "key 'backwards_s'",
                 "did you mean 'backward_s'?");
  expect_refused(with_costs(fmt::format(R"("compress":{{"alfa_s":1}},"network":{})", kCost)),
                 StatusCode::invalid_argument, "key 'compress.alfa_s'", "did you mean 'alpha_s'?");
  expect_refused(
      with_costs(fmt::format(
          R"("network":{},"compress":{{"alpha_s":1,"beta_s_per_byte":1,"ratio":1}})", kCost)),
      StatusCode::invalid_argument, "key 'compress.ratio'", "alpha_s, beta_s_per_byte");
  expect_refused(
      with_costs(fmt::format(
          R"("compress":{},"network":{},"decode":{{"alpha_s":1,"beta_s_per_byte":1,"agent":1}})",
          kCost, kCost)),
      StatusCode::invalid_argument, "key 'decode.agent'", "did you mean 'agents'?");
}

// JSON permits duplicates; here one of the two would be lost.
TEST(FusionProfileText, KeysMustBeThereOnce) {
  expect_refused("{}", StatusCode::invalid_argument, "key 'backward_s'", "got none");
  expect_refused(with_costs(fmt::format(R"("compress":{})", kCost)), StatusCode::invalid_argument,
                 "key 'network'", "got none");
  expect_refused(with_costs(fmt::format(R"("compress":{},"network":{{"alpha_s":1}})", kCost)),
                 StatusCode::invalid_argument, "key 'network.beta_s_per_byte'", "got none");
  expect_refused(R"({"bytes":[1],"bytes":[2]})", StatusCode::invalid_argument, "key 'bytes'",
                 "a duplicate");
  expect_refused(R"({"compress":{"alpha_s":1,"alpha_s":2}})", StatusCode::invalid_argument,
                 "key 'alpha_s'", "a duplicate");
}

// The error has the path of the value and what was found there.
TEST(FusionProfileText, NumbersMustBeNumbers) {
  expect_refused(with_lists(R"("backward_s":1,"bytes":[1])"), StatusCode::invalid_argument,
                 "backward_s", "a list of numbers, got 1");
  expect_refused(with_lists(R"("backward_s":[1,"2"],"bytes":[1,1])"), StatusCode::invalid_argument,
                 "backward_s[1]", "a number, got \"2\"");
  expect_refused(with_lists(R"("backward_s":[1],"bytes":[null])"), StatusCode::invalid_argument,
                 "bytes[0]", "null");
  expect_refused(with_costs(fmt::format(R"("compress":3,"network":{})", kCost)),
                 StatusCode::invalid_argument, "compress", "got 3");
  expect_refused(with_costs(fmt::format(
                     R"("network":{},"compress":{{"alpha_s":[],"beta_s_per_byte":1}})", kCost)),
                 StatusCode::invalid_argument, "compress.alpha_s", "a number, got a list");
}

// Empty or unequal lists, negative times, a ratio above 64, and agents that are no whole number.
TEST(FusionProfileText, NumbersMustBeInRange) {
  expect_refused(with_lists(R"("backward_s":[],"bytes":[])"), StatusCode::invalid_argument,
                 "backward_s", "got none");
  expect_refused(with_lists(R"("backward_s":[1,2],"bytes":[1])"), StatusCode::mismatch, "bytes",
                 "2 numbers");
  expect_refused(with_lists(R"("backward_s":[-1],"bytes":[1])"), StatusCode::invalid_argument,
                 "backward_s[0]", "got -1");
  for (const char* const ratio : {"0", "-1", "65"}) {
    expect_refused(with_costs(fmt::format(
                       R"("compress":{},"network":{{"alpha_s":1,"beta_s_per_byte":1,"ratio":{}}})",
                       kCost, ratio)),
                   StatusCode::invalid_argument, "network.ratio", "above 0");
  }
  for (const char* const agents : {"0", "2.5", "-3", "1e9"}) {
    expect_refused(
        with_costs(fmt::format(
            R"("compress":{0},"network":{0},"decode":{{"alpha_s":1,"beta_s_per_byte":1,"agents":{1}}})",
            kCost, agents)),
        StatusCode::invalid_argument, "decode.agents", "a whole number");
  }
}

}  // namespace
}  // namespace tributary
