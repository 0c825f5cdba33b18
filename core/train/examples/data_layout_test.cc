// Tests of the layout of a job's data as text.
#include "core/train/examples/data_layout.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

using Scales = std::vector<FeatureScale>;

TEST(DataLayout, OneListMayBeLeftOut) {
  EXPECT_EQ(parse_layout({.mean = "1,2"})->scales, (Scales{{1, 1}, {2, 1}}));
  EXPECT_EQ(parse_layout({.deviation = "0.5"})->scales, (Scales{{0, 0.5}}));
  EXPECT_TRUE(parse_layout({})->scales.empty());
}

TEST(DataLayout, InvalidShapesAreRefused) {
  for (const DataLayoutText& text :
       {DataLayoutText{.separator = ";;"}, DataLayoutText{.separator = "\""},
        DataLayoutText{.mean = "one"}, DataLayoutText{.mean = "1,"}, DataLayoutText{.mean = "1;2"},
        DataLayoutText{.mean = "1,2", .deviation = "1,2,3"}, DataLayoutText{.deviation = "0"},
        DataLayoutText{.deviation = "-1"}, DataLayoutText{.mean = "nan"},
        DataLayoutText{.mean = "1 2"}}) {
    const auto layout = parse_layout(text);
    EXPECT_EQ(layout.status().code(), StatusCode::invalid_argument)
        << text.separator << " " << text.mean << " " << text.deviation;
  }
}

}  // namespace
}  // namespace tributary
