// Tests of data sets in memory and of subsets with numbers of their own.
#include "core/data/data_set.h"

#include <gmock/gmock.h>

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FeatureTable three_examples() {
  return {.shape = {.dims = {2}, .classes = 3},
          .features = {0, 1, 10, 11, 20, 21},
          .labels = {2, 0, 1},
          .targets = {}};
}

TEST(Table, GathersInTheOrderAskedFor) {
  const auto data = make_table(three_examples());
  ASSERT_TRUE(data.ok()) << data.status().text();
  EXPECT_EQ((*data)->count(), 3u);
  Batch batch;
  const std::uint32_t indices[] = {2, 0, 2};
  ASSERT_TRUE((*data)->gather(indices, batch).ok());
  EXPECT_EQ(batch.count, 3u);
  EXPECT_THAT(batch.features, ElementsAre(20, 21, 0, 1, 20, 21));
  EXPECT_THAT(batch.labels, ElementsAre(1, 2, 1));
  EXPECT_THAT(batch.targets, IsEmpty());
  EXPECT_THAT(batch.tokens, IsEmpty());
}

TEST(Table, RegressionHasTargets) {
  const auto data = make_table({.shape = {.task = DataTask::regression, .dims = {1}, .outputs = 2},
                                .features = {1, 2},
                                .labels = {},
                                .targets = {10, 11, 20, 21}});
  ASSERT_TRUE(data.ok()) << data.status().text();
  EXPECT_THAT((*data)->labels(), IsEmpty());
  Batch batch;
  const std::uint32_t indices[] = {1};
  ASSERT_TRUE((*data)->gather(indices, batch).ok());
  EXPECT_THAT(batch.features, ElementsAre(2));
  EXPECT_THAT(batch.targets, ElementsAre(20, 21));
}

TEST(Table, RefusesInconsistentColumns) {
  FeatureTable table = three_examples();
  table.features.pop_back();
  EXPECT_EQ(make_table(std::move(table)).status().code(), StatusCode::mismatch);
  table = three_examples();
  table.labels[1] = 3;
  const Status status = make_table(std::move(table)).status();
  EXPECT_EQ(status.code(), StatusCode::mismatch);
  EXPECT_THAT(status.text(), HasSubstr("got 3"));
  table = three_examples();
  table.shape.classes = 0;
  EXPECT_EQ(make_table(std::move(table)).status().code(), StatusCode::invalid_argument);
}

TEST(Table, RefusesAnIndexBehindTheEnd) {
  const auto data = make_table(three_examples());
  ASSERT_TRUE(data.ok());
  Batch batch;
  const std::uint32_t indices[] = {0, 3};
  const Status status = (*data)->gather(indices, batch);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_THAT(status.text(), HasSubstr("below 3"));
}

// Numbers of a subset start at 0, and labels follow its selection.
TEST(Subset, HasItsOwnNumbers) {
  auto data = make_table(three_examples());
  ASSERT_TRUE(data.ok());
  const std::shared_ptr<const DataSet> whole = std::move(*data);
  const auto subset = Subset::make(whole, {2, 1});
  ASSERT_TRUE(subset.ok());
  EXPECT_EQ((*subset)->count(), 2u);
  EXPECT_THAT((*subset)->labels(), ElementsAre(1, 0));
  Batch batch;
  const std::uint32_t indices[] = {1};
  ASSERT_TRUE((*subset)->gather(indices, batch).ok());
  EXPECT_THAT(batch.features, ElementsAre(10, 11));
  const std::uint32_t beyond[] = {2};
  EXPECT_FALSE((*subset)->gather(beyond, batch).ok());
  EXPECT_FALSE(Subset::make(whole, {3}).ok());
}

}  // namespace
}  // namespace tributary
