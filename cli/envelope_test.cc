// Tests of the JSON envelope of all answers.
#include "cli/envelope.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "cli/json.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

TEST(Envelope, HoldsAnAnswer) {
  const std::string text = json_answer(R"({"a":[1,2]})");
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(Json::parse(text),
            (Json{{"schema_version", 1}, {"status", "ok"}, {"data", {{"a", {1, 2}}}}}));
}

TEST(Envelope, HoldsAnErrorWithAllItsParts) {
  const Json json = Json::parse(
      json_error("not_found", {.what = "w", .expected = "e", .got = "g", .remedy = "r"}));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["status"], "error");
  EXPECT_EQ(json["error"], (Json{{"code", "not_found"},
                                 {"message", "w"},
                                 {"expected", "e"},
                                 {"got", "g"},
                                 {"remedy", "r"}}));
}

TEST(Envelope, StaysJsonForAnyText) {
  const Json json = Json::parse(json_error("io_error", {.what = "\xff\"\n\x01{}"}));
  EXPECT_EQ(json["error"]["message"], "\xef\xbf\xbd\"\n\x01{}");
}

TEST(JsonText, WritesNumbersThatJsonLacksAsNull) {
  EXPECT_EQ(json_text(Json{{"x", std::numeric_limits<double>::infinity()}}), R"({"x":null})");
}

}  // namespace
}  // namespace tributary
