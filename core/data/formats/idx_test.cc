// Tests of reading IDX files, the format of MNIST. Headers that claim more than the file has must
// not be believed.
#include "core/data/formats/idx.h"

#include <gmock/gmock.h>

#include "core/data/formats/loaders_testing.h"
#include "core/data/source.h"

namespace tributary {
namespace {

using data_testing::counting;
using data_testing::idx_file;
using data_testing::joined;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<std::unique_ptr<DataSet>> make(Bytes images, Bytes labels, const IdxOptions& options = {}) {
  return make_idx(memory_source(std::move(images)), *memory_source(std::move(labels)), options);
}

Bytes images() { return idx_file({3, 2, 2}, counting(12)); }
Bytes labels() { return idx_file({3}, counting(3, 4)); }

TEST(Idx, ReadsThePublishedLayout) {
  // The first bytes of MNIST's label file as published: 60000 labels, 5 0 4 1 9.
  const Bytes published = {0, 0, 8, 1, 0, 0, 0xea, 0x60, 5, 0, 4, 1, 9};
  const Bytes whole = joined(published, Bytes(60000 - 5, 0));
  const auto header = read_idx_header(*memory_source(whole));
  ASSERT_TRUE(header.ok()) << header.status().text();
  EXPECT_THAT(header->dims, ElementsAre(60000));
  EXPECT_EQ(header->bytes, 8u);
}

TEST(Idx, GathersScaledPixels) {
  const auto data = make(images(), labels(), {.scale = {.mean = 0.5, .deviation = 0.25}});
  ASSERT_TRUE(data.ok()) << data.status().text();
  EXPECT_EQ((*data)->count(), 3u);
  EXPECT_THAT((*data)->shape().dims, ElementsAre(1, 2, 2));
  EXPECT_EQ((*data)->shape().classes, 10u);
  EXPECT_THAT((*data)->labels(), ElementsAre(4, 5, 6));
  Batch batch;
  const std::uint32_t indices[] = {2, 0};
  ASSERT_TRUE((*data)->gather(indices, batch).ok());
  EXPECT_THAT(batch.labels, ElementsAre(6, 4));
  ASSERT_EQ(batch.features.size(), 8u);
  EXPECT_EQ(batch.features[1], static_cast<float>((9.0 / 255.0 - 0.5) / 0.25));
  EXPECT_EQ(batch.features[4], -2.0f);
}

TEST(Idx, CountsClassesByTheHighestLabelUnlessTheyAreGiven) {
  const auto many = make(images(), idx_file({3}, counting(3, 45)));
  ASSERT_TRUE(many.ok());
  EXPECT_EQ((*many)->shape().classes, 48u);
  const auto with_classes = make(images(), labels(), {.classes = 7});
  ASSERT_TRUE(with_classes.ok());
  EXPECT_EQ((*with_classes)->shape().classes, 7u);
  const Status status = make(images(), labels(), {.classes = 6}).status();
  EXPECT_EQ(status.code(), StatusCode::mismatch);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("label of example 2"), HasSubstr("below 6")));
}

TEST(Idx, TakesVectorsAndChannelsToo) {
  const auto vectors = make(idx_file({3, 4}, counting(12)), labels());
  ASSERT_TRUE(vectors.ok());
  EXPECT_THAT((*vectors)->shape().dims, ElementsAre(4));
  const auto channels = make(idx_file({3, 2, 1, 2}, counting(12)), labels());
  ASSERT_TRUE(channels.ok());
  EXPECT_THAT((*channels)->shape().dims, ElementsAre(2, 1, 2));
}

// A file that is shorter or longer by any number of bytes is refused.
TEST(Idx, EveryOtherLengthIsAnError) {
  const Bytes whole = joined(images(), counting(5));
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const Status status =
        make(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)), labels()).status();
    ASSERT_EQ(status.ok(), size == images().size()) << size;
    if (!status.ok()) {
      EXPECT_EQ(status.code(), StatusCode::corrupt_data);
      EXPECT_THAT(status.text(), HasSubstr("images: IDX"));
    }
  }
}

TEST(Idx, ErrorsNameTheFaultOfTheHeader) {
  Bytes bad = images();
  bad[0] = 'P';
  EXPECT_THAT(make(bad, labels()).status().text(), HasSubstr("expected two zero bytes"));
  bad = images();
  bad[2] = 0x0d;
  EXPECT_EQ(make(bad, labels()).status().code(), StatusCode::unsupported);
  bad = images();
  bad[3] = 9;
  EXPECT_THAT(make(bad, labels()).status().text(), HasSubstr("expected 1 to 4, got 9"));
}

TEST(Idx, SizesThatOverflowAreNotBelieved) {
  // 2^32 - 1 in each dimension, and 2^16 four times: the second product is 0 modulo 2^64.
  Bytes huge = images();
  std::fill(huge.begin() + 4, huge.begin() + 16, 0xff);
  EXPECT_EQ(make(huge, labels()).status().code(), StatusCode::corrupt_data);
  const Bytes wraps = idx_file({65536, 65536, 65536, 65536}, {});
  EXPECT_EQ(make(wraps, labels()).status().code(), StatusCode::corrupt_data);
  // A file without examples has the right size for any dimensions; the example itself is too large.
  const Bytes none = idx_file({0, 65536, 65536, 65536}, {});
  EXPECT_THAT(make(none, idx_file({0}, {})).status().text(), HasSubstr("values of an example"));
}

TEST(Idx, ImagesAndLabelsMustBelongTogether) {
  EXPECT_THAT(make(images(), idx_file({4}, counting(4))).status().text(),
              AllOf(HasSubstr("each of the 3 images"), HasSubstr("4 labels")));
  EXPECT_THAT(make(images(), images()).status().text(), HasSubstr("labels: IDX file of labels"));
  EXPECT_THAT(make(labels(), labels()).status().text(), HasSubstr("file of images"));
}

}  // namespace
}  // namespace tributary
