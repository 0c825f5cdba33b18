// Tests of reading settings from TOML and from assignments, with errors that name the setting and
// its origin.
#include "core/service/settings/settings.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

struct Example {
  std::string name = "none";
  bool flag = false;
  std::uint32_t count = 1;
  double share = 0;
  std::vector<std::string> list;
  Settings settings;

  Example() {
    settings.text("name", name);
    settings.flag("link.flag", flag);
    settings.number("link.count", count, 1u, 10u);
    settings.real("link.share", share, 0, 1);
    settings.texts("list", list);
  }
  Status read(std::string_view toml) { return settings.read_text(toml, "file.toml"); }
};

TEST(Settings, FillBoundVariables) {
  Example example;
  const Status status = example.read(R"(
name = "garage"
list = ["a", "b"]
[link]
flag = true
count = 7
share = 1
)");
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(example.name, "garage");
  EXPECT_EQ(example.list, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(example.flag);
  EXPECT_EQ(example.count, 7u);
  EXPECT_EQ(example.share, 1);
  EXPECT_TRUE(example.settings.given("link.count"));
  EXPECT_FALSE(example.settings.given("link.other"));
}

TEST(Settings, AnUnknownKeyIsRefusedWithThePlaceAndTheNearestKnownOne) {
  Example example;
  const Status status = example.read("name = \"x\"\n[link]\ncuont = 3\n");
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.text().find("file.toml:3"), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("did you mean 'link.count'"), std::string::npos) << status.text();
}

TEST(Settings, ValuesOfAnotherTypeOrOutOfRangeAreRefused) {
  for (const char* toml :
       {"name = 3", "list = [1]", "list = \"a\"", "link.flag = 1", "link.count = 0",
        "link.count = 11", "link.count = -1", "link.count = 1.5", "link.share = 1.01",
        "link.share = nan", "link.share = \"1\"", "name = 2020-01-01"}) {
    Example example;
    EXPECT_EQ(example.read(toml).code(), StatusCode::invalid_argument) << toml;
  }
}

TEST(Settings, InvalidTomlIsRefusedWithItsLine) {
  Example example;
  const Status status = example.read("name = \"x\"\nname =\n");
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.text().find("file.toml:2"), std::string::npos) << status.text();
}

TEST(Settings, AssignmentsTakeTomlOrTextAsItStands) {
  Example example;
  ASSERT_TRUE(example.settings.assign("name=tcp://*:4640").ok());
  EXPECT_EQ(example.name, "tcp://*:4640");
  ASSERT_TRUE(example.settings.assign("name=5#x]h0KRCy").ok());
  EXPECT_EQ(example.name, "5#x]h0KRCy");
  ASSERT_TRUE(example.settings.assign("name=\"quoted\"").ok());
  EXPECT_EQ(example.name, "quoted");
  ASSERT_TRUE(example.settings.assign("name=2").ok()) << "a shape of one dimension, for example";
  EXPECT_EQ(example.name, "2");
  ASSERT_TRUE(example.settings.assign("link.count=9").ok());
  EXPECT_EQ(example.count, 9u);
  ASSERT_TRUE(example.settings.assign("list=[\"a\"]").ok());
  EXPECT_EQ(example.list.size(), 1u);
  EXPECT_FALSE(example.settings.assign("name").ok());
  EXPECT_FALSE(example.settings.assign("nmae=3").ok());
  EXPECT_FALSE(example.settings.assign("link.count=many").ok());
}

}  // namespace
}  // namespace tributary
