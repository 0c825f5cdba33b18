// Tests of reading CIFAR files. The tests build the files in memory, byte by byte.
#include "core/data/formats/cifar.h"

#include <gmock/gmock.h>

#include "core/data/formats/loaders_testing.h"
#include "core/data/source.h"

namespace tributary {
namespace {

using data_testing::counting;
using data_testing::joined;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Files = std::vector<Bytes>;

Result<std::unique_ptr<DataSet>> make(const Files& files, CifarKind kind) {
  std::vector<std::shared_ptr<const ByteSource>> sources;
  std::vector<std::string> names;
  for (const Bytes& file : files) {
    sources.push_back(memory_source(file));
    names.push_back("file " + std::to_string(names.size()));
  }
  return make_cifar(sources, names, kind, {});
}

// A record whose pixels all have the same value.
Bytes record(Bytes label, std::uint8_t pixel) {
  return joined(std::move(label), Bytes(kCifarPixelBytes, pixel));
}

TEST(Cifar, JoinsItsFiles) {
  const Files files = {joined(record({3}, 255), record({9}, 51)), record({0}, 0)};
  const auto data = make(files, CifarKind::cifar10);
  ASSERT_TRUE(data.ok()) << data.status().text();
  EXPECT_THAT((*data)->labels(), ElementsAre(3, 9, 0));
  EXPECT_THAT((*data)->shape().dims, ElementsAre(3, 32, 32));
  EXPECT_EQ((*data)->shape().classes, 10u);
  Batch batch;
  const std::uint32_t indices[] = {2, 1, 0};
  ASSERT_TRUE((*data)->gather(indices, batch).ok());
  ASSERT_EQ(batch.features.size(), 3u * kCifarPixelBytes);
  EXPECT_EQ(batch.features[0], 0.0f);
  EXPECT_EQ(batch.features[kCifarPixelBytes], 0.2f);
  EXPECT_EQ(batch.features.back(), 1.0f);
  EXPECT_THAT(batch.labels, ElementsAre(0, 9, 3));
}

TEST(Cifar, HundredHasTwoLabels) {
  const Files files = {joined(record({19, 99}, 255), record({4, 42}, 0))};
  const auto fine = make(files, CifarKind::cifar100_fine);
  ASSERT_TRUE(fine.ok()) << fine.status().text();
  EXPECT_THAT((*fine)->labels(), ElementsAre(99, 42));
  EXPECT_EQ((*fine)->shape().classes, 100u);
  const auto coarse = make(files, CifarKind::cifar100_coarse);
  ASSERT_TRUE(coarse.ok()) << coarse.status().text();
  EXPECT_THAT((*coarse)->labels(), ElementsAre(19, 4));
  EXPECT_EQ((*coarse)->shape().classes, 20u);
  Batch batch;
  const std::uint32_t indices[] = {0};
  ASSERT_TRUE((*fine)->gather(indices, batch).ok());
  EXPECT_EQ(batch.features[0], 1.0f);
}

// Labels are collected from 256 records at a time; 600 need several reads.
TEST(Cifar, ReadsMoreThanOnePieceOfLabels) {
  Bytes file;
  for (unsigned i = 0; i < 600; ++i) {
    file = joined(std::move(file), record({static_cast<std::uint8_t>(i % 7)}, 0));
  }
  const auto data = make({file}, CifarKind::cifar10);
  ASSERT_TRUE(data.ok());
  for (unsigned i = 0; i < 600; ++i) ASSERT_EQ((*data)->labels()[i], i % 7);
}

TEST(Cifar, SaysWhichFileIsCut) {
  Bytes cut = record({1}, 0);
  cut.pop_back();
  const Status status = make({record({1}, 0), cut}, CifarKind::cifar10).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("file 1"), HasSubstr("3073 bytes each"),
                                   HasSubstr("3072 bytes, 3072 too many")));
  EXPECT_FALSE(make({Bytes()}, CifarKind::cifar10).ok());
  // A file of the other kind is refused.
  EXPECT_FALSE(make({record({1, 2}, 0)}, CifarKind::cifar10).ok());
}

TEST(Cifar, SaysWhichLabelIsNone) {
  const Status status =
      make({joined(record({1}, 0), record({10}, 0))}, CifarKind::cifar10).status();
  EXPECT_EQ(status.code(), StatusCode::mismatch);
  EXPECT_THAT(status.text(), HasSubstr("label of example 1"));
}

}  // namespace
}  // namespace tributary
