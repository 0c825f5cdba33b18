// Tests of checking option values.
#include "cli/accept.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace tributary {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

TEST(ParseCount, KnowsSuffixes) {
  const std::pair<const char*, std::uint64_t> cases[] = {{"0", 0},
                                                         {"17", 17},
                                                         {"4k", 4'000},
                                                         {"4Ki", 4'096},
                                                         {"16Mi", 16 << 20},
                                                         {"3M", 3'000'000},
                                                         {"2G", 2'000'000'000},
                                                         {"1Gi", 1 << 30},
                                                         {"18446744073709551615", kAny}};
  for (const auto& [text, count] : cases) {
    const Result<std::uint64_t> parsed = parse_count(text, 0, kAny);
    ASSERT_TRUE(parsed.ok()) << parsed.status().text();
    EXPECT_EQ(*parsed, count) << text;
  }
}

TEST(ParseCount, RefusesTextThatIsNoCount) {
  for (const char* text : {"", "x", "-1", "+1", "1.5", " 1", "1 ", "1 Mi", "1mi", "1KiB", "0x10",
                           "18446744073709551616", "18446744073709551615k"}) {
    const Result<std::uint64_t> parsed = parse_count(text, 0, kAny);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), StatusCode::invalid_argument);
  }
}

TEST(ParseCount, NamesTheBounds) {
  EXPECT_TRUE(parse_count("8", 1, 8).ok());
  EXPECT_EQ(parse_count("9", 1, 8).status().fault().expected, "a whole number from 1 to 8");
  EXPECT_EQ(parse_count("0", 1, kAny).status().fault().expected, "a whole number of 1 or more");
}

TEST(Accept, FileIsNotADash) {
  std::string file;
  EXPECT_TRUE(accept_file(file)("./-").ok());
  EXPECT_EQ(file, "./-");
  EXPECT_THAT(accept_file(file)("-").text(), HasSubstr("'./-'"));
  EXPECT_FALSE(accept_file(file)("").ok());
}

TEST(Accept, ListsGrow) {
  std::vector<std::string> files;
  const Accept accept = accept_files(files);
  EXPECT_TRUE(accept("a").ok());
  EXPECT_TRUE(accept("[b,c]").ok());
  EXPECT_THAT(files, testing::ElementsAre("a", "[b,c]"));

  std::vector<std::unique_ptr<Codec>> codecs;
  EXPECT_TRUE(accept_codecs(codecs)("int8").ok());
  EXPECT_TRUE(accept_codecs(codecs)("fp16").ok());
  EXPECT_FALSE(accept_codecs(codecs)("fp17").ok());
  ASSERT_EQ(codecs.size(), 2u);
  EXPECT_EQ(codecs[1]->spec(), "fp16");
}

TEST(Accept, ChoiceNamesTheNearest) {
  constexpr std::array<std::string_view, 2> kChoices = {"scalar", "simd"};
  std::size_t choice = 0;
  EXPECT_TRUE(accept_choice(choice, kChoices)("simd").ok());
  EXPECT_EQ(choice, 1u);
  const Status status = accept_choice(choice, kChoices)("scaler");
  EXPECT_EQ(status.fault().expected, "scalar|simd");
  EXPECT_EQ(status.fault().remedy, "did you mean 'scalar'?");
}

TEST(Accept, CodecErrorsComeThrough) {
  std::unique_ptr<Codec> codec;
  EXPECT_TRUE(accept_codec(codec)("int8:block=1024").ok());
  EXPECT_EQ(codec->spec(), "int8:block=1024");
  EXPECT_THAT(accept_codec(codec)("int8:blok=1024").text(), HasSubstr("did you mean 'block'?"));
}

}  // namespace
}  // namespace tributary
