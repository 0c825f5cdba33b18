// Tests of synthetic data sets. They are the same on every machine and in every version, because
// results in the documentation refer to them.
#include "core/data/drawn/make.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/base/bytes/checksum.h"
#include "core/data/drawn/digits.h"
#include "core/data/drawn/shapes.h"
#include "core/data/drawn/story.h"
#include "core/data/formats/loaders_testing.h"

namespace tributary {
namespace {

using data_testing::Folder;
using testing::HasSubstr;

// The pictures are the same on every machine and in every version.
TEST(Drawn, PicturesStayAsTheyWere) {
  std::uint64_t digits = 0;
  std::uint64_t shapes = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const DrawnDigit digit = draw_digit(7, DataPart::train, i);
    digits = digits * 31 + checksum32(digit.pixels) + digit.label;
    const DrawnShape shape = draw_shape(7, DataPart::train, i);
    shapes = shapes * 31 + checksum32(shape.pixels) + shape.label;
  }
  EXPECT_EQ(digits, 1428408740143030834u);
  EXPECT_EQ(shapes, 15865005838953685718u);
}

TEST(Drawn, TextStaysAsItWas) {
  const Story story = draw_story(7, DataPart::train, 100'000);
  EXPECT_EQ(checksum32(bytes_of(std::string_view(story.text))), 3153473363u);
  EXPECT_EQ(story.text.substr(0, story.text.find('\n')),
            "Hana and Ben find five rivers at the station.");
}

// Each part of the address alone gives a different picture.
TEST(Drawn, SeedPartAndNumberMakeAnotherPicture) {
  const auto pixels = draw_digit(1, DataPart::train, 0).pixels;
  EXPECT_NE(draw_digit(2, DataPart::train, 0).pixels, pixels);
  EXPECT_NE(draw_digit(1, DataPart::test, 0).pixels, pixels);
  EXPECT_NE(draw_digit(1, DataPart::train, 1).pixels, pixels);
  EXPECT_NE(draw_story(1, DataPart::train, 500).text, draw_story(1, DataPart::test, 500).text);
}

TEST(Drawn, ClassesAreEven) {
  std::array<unsigned, 10> digits{};
  std::array<unsigned, 10> shapes{};
  for (std::uint32_t i = 0; i < 2000; ++i) {
    ++digits[draw_digit(3, DataPart::train, i).label];
    ++shapes[draw_shape(3, DataPart::train, i).label];
  }
  // The tolerance is five standard deviations of a binomial count.
  for (const unsigned count : digits) EXPECT_NEAR(count, 200, 67);
  for (const unsigned count : shapes) EXPECT_NEAR(count, 200, 67);
}

// A longer text begins with the shorter one, and its entropy per character converges.
TEST(Drawn, TextHasTheEntropyOfItsGrammar) {
  const Story story = draw_story(0, DataPart::train, 1'000'000);
  EXPECT_EQ(story.text.substr(0, 1000), draw_story(0, DataPart::train, 1000).text);
  // Expected value: the choice among four kinds is 2 bits; the kinds have 15, 15 + log2 7, 9 + log2
  // 7 and 2 log2 10 bits more. The mean is 14.82.
  const auto sentences = static_cast<double>(std::ranges::count(story.text, '\n'));
  EXPECT_NEAR(story.bits / sentences, 14.815, 0.05);
  EXPECT_NEAR(story.bits / 1e6, 0.3134, 0.001);
}

TEST(Make, WritesFilesThatTheLoadersRead) {
  const Folder folder;
  const std::string digits = folder.path("new/digits");
  auto made = make_data(
      {.kind = DrawnKind::digits, .folder = digits, .count = 600, .test_count = 3, .seed = 5});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(made->files.size(), 4u);
  for (const DataPart part : {DataPart::train, DataPart::test}) {
    const auto opened = open_data({.path = digits, .part = part});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    ASSERT_EQ(opened->data->count(), part == DataPart::train ? 600u : 3u);
    const std::uint32_t last = opened->data->count() - 1;
    const DrawnDigit expected = draw_digit(5, part, last);
    Batch batch;
    ASSERT_TRUE(opened->data->gather({&last, 1}, batch).ok());
    EXPECT_EQ(batch.labels[0], expected.label);
    for (std::size_t i = 0; i < expected.pixels.size(); ++i) {
      ASSERT_EQ(batch.features[i], static_cast<float>(expected.pixels[i] / 255.0));
    }
  }
}

TEST(Make, CutsShapesIntoBatches) {
  const Folder folder;
  const auto made = make_data({.kind = DrawnKind::shapes,
                               .folder = folder.path(),
                               .count = 10'001,
                               .test_count = 2,
                               .seed = 1});
  ASSERT_TRUE(made.ok()) << made.status().text();
  const auto opened = open_data({.path = folder.path()});
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  EXPECT_EQ(opened->files.size(), 2u);
  ASSERT_EQ(opened->data->count(), 10'001u);
  const std::uint32_t last = 10'000;
  Batch batch;
  ASSERT_TRUE(opened->data->gather({&last, 1}, batch).ok());
  const DrawnShape expected = draw_shape(1, DataPart::train, last);
  EXPECT_EQ(batch.labels[0], expected.label);
  EXPECT_EQ(batch.features[2000], static_cast<float>(expected.pixels[2000] / 255.0));
  // With fewer batches, the second batch of this set would remain.
  const auto fewer =
      make_data({.kind = DrawnKind::shapes, .folder = folder.path(), .count = 5, .test_count = 2});
  EXPECT_EQ(fewer.status().code(), StatusCode::already_exists);
  EXPECT_THAT(fewer.status().text(), HasSubstr("data_batch_2.bin"));
  EXPECT_EQ(std::filesystem::file_size(folder.path("data_batch_1.bin")), 30'730'000u);
}

TEST(Make, TextIsAsLongAsAskedFor) {
  const Folder folder;
  const auto made = make_data(
      {.kind = DrawnKind::text, .folder = folder.path(), .count = 5000, .test_count = 777});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(std::filesystem::file_size(folder.path("train.txt")), 5000u);
  EXPECT_EQ(std::filesystem::file_size(folder.path("test.txt")), 777u);
  EXPECT_GT(made->bits_per_character, 0.25);
  EXPECT_TRUE(open_data({.path = folder.path()}).ok());
}

// A stopped call leaves neither complete nor temporary files.
TEST(Make, LeavesNothingWhenItIsStopped) {
  const Folder folder;
  const auto made = make_data({.folder = folder.path(),
                               .count = 2000,
                               .test_count = 10,
                               .progress = [](std::uint64_t done, std::uint64_t total) {
                                 EXPECT_EQ(total, 2010u);
                                 return done < 1000;
                               }});
  EXPECT_EQ(made.status().code(), StatusCode::cancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Make, RefusesUnsupportedRequests) {
  const Folder folder;
  EXPECT_FALSE(make_data({.folder = folder.path(), .count = 0}).ok());
  EXPECT_FALSE(make_data({.folder = folder.path(), .count = kDrawnMax + 1}).ok());
  folder.write("file", "x");
  const Status status = make_data({.folder = folder.path("file/below")}).status();
  EXPECT_EQ(status.code(), StatusCode::io_error);
}

}  // namespace
}  // namespace tributary
