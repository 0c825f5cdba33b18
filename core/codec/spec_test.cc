// Tests of codec specifications as text: defaults, canonical form and error texts. A table with one
// parameter of each kind stands for a codec.
#include "core/codec/spec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/codec/payload.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

constexpr std::array<std::string_view, 2> kColours = {"red", "blue"};
// One parameter of each kind.
constexpr ParamSpec kTable[] = {
    {.name = "bits", .kind = ParamKind::integer, .default_value = "4", .min = 1, .max = 8},
    {.name = "block", .kind = ParamKind::power_of_two, .default_value = "64", .min = 2, .max = 256},
    {.name = "ratio", .kind = ParamKind::real, .default_value = "0.5", .min = 0, .max = 1},
    {.name = "colour", .kind = ParamKind::choice, .default_value = "red", .choices = kColours},
};

Result<Params> parse(std::string_view spec) {
  TRIBUTARY_ASSIGN(const SpecText text, split_spec(spec));
  return Params::make(text, kTable);
}

std::string error_of(std::string_view spec) {
  const Result<Params> params = parse(spec);
  return params.ok() ? "" : params.status().text();
}

TEST(Spec, DefaultsFillMissingParameters) {
  const Result<Params> params = parse("x:ratio=0.25,colour=blue");
  ASSERT_TRUE(params.ok()) << params.status().text();
  EXPECT_EQ(params->integer("bits"), 4);
  EXPECT_EQ(params->integer("block"), 64);
  EXPECT_EQ(params->real("ratio"), 0.25);
  EXPECT_EQ(params->choice("colour"), "blue");
}

TEST(Spec, APowerOfTwoMayBeZeroIfThatIsItsDefault) {
  constexpr ParamSpec kChosen[] = {
      {.name = "block", .kind = ParamKind::power_of_two, .default_value = "0", .min = 2, .max = 8}};
  const auto chosen = [&](std::string_view spec) {
    return Params::make(*split_spec(spec), kChosen);
  };
  EXPECT_EQ(chosen("x:block=0")->canonical("x"), "x");
  EXPECT_EQ(chosen("x:block=4")->integer("block"), 4);
  EXPECT_NE(chosen("x:block=1").status().text().find("from 2 to 8, or 0"), std::string::npos);
  EXPECT_NE(error_of("x:block=0"), "") << "its default is 64";
}

TEST(Spec, CanonicalFormOmitsDefaultsAndKeepsTheTablesOrder) {
  EXPECT_EQ(parse("x:colour=red,bits=4")->canonical("x"), "x");
  // Other spellings of a number have the same canonical form.
  EXPECT_EQ(parse("x:ratio=1e-2,bits=08")->canonical("x"), "x:bits=8,ratio=0.01");
  EXPECT_EQ(parse("x:ratio=0.010000")->canonical("x"), "x:ratio=0.01");
}

TEST(Spec, UnknownKeysAreAnsweredWithTheNearestName) {
  EXPECT_NE(error_of("x:blok=4").find("did you mean 'block'"), std::string::npos);
  EXPECT_NE(error_of("x:colour=blu").find("did you mean 'blue'"), std::string::npos);
  EXPECT_NE(make_codec("int9").status().text().find("did you mean 'int8'"), std::string::npos);
}

TEST(Spec, ValuesOutOfBoundsNameTheBounds) {
  EXPECT_NE(error_of("x:bits=9").find("an integer from 1 to 8"), std::string::npos);
  EXPECT_NE(error_of("x:bits=2.5").find("an integer"), std::string::npos);
  EXPECT_NE(error_of("x:block=48").find("a power of two"), std::string::npos);
  EXPECT_NE(error_of("x:ratio=nan").find("a number from 0 to 1"), std::string::npos);
  EXPECT_NE(error_of("x:ratio=0.5x").find("'0.5x'"), std::string::npos);
  EXPECT_NE(error_of("x:bits=4,bits=5").find("one value"), std::string::npos);
}

TEST(Spec, MisshapenTextIsRefused) {
  for (const char* spec :
       {"", ":", ":bits=4", "x:", "x:bits", "x:bits=", "x:=4", "x:bits=4,", "x:,bits=4"}) {
    EXPECT_FALSE(split_spec(spec).ok()) << spec;
  }
  EXPECT_FALSE(split_spec(std::string(kSpecBytesMax + 1, 'x')).ok());
}

// A family with its defaults has its name as canonical spec.
TEST(Registry, NamesAreUniqueAndEveryDefaultWorks) {
  std::vector<std::string_view> names;
  for (const CodecFamily& family : codec_families()) {
    EXPECT_EQ(std::ranges::count(names, family.name), 0) << family.name;
    names.push_back(family.name);
    const auto codec = make_codec(family.name);
    ASSERT_TRUE(codec.ok()) << codec.status().text();
    EXPECT_EQ((*codec)->spec(), family.name);
    EXPECT_FALSE((*codec)->stages().empty());
    EXPECT_FALSE(family.summary.empty());
  }
}

}  // namespace
}  // namespace tributary
