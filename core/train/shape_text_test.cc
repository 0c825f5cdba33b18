// Tests of shapes as text.
#include "core/train/shape_text.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(ShapeText, ReadsSizesBetweenCrosses) {
  const Result<ExampleShape> shape = parse_shape({.input = "3x32x16", .classes = 10});
  ASSERT_TRUE(shape.ok()) << shape.status().text();
  EXPECT_EQ(shape->dims, (std::vector<std::uint32_t>{3, 32, 16}));
  EXPECT_EQ(shape->classes, 10u);
  EXPECT_EQ(describe(*shape), "3x32x16 features of 10 classes");
  const Result<ExampleShape> text =
      parse_shape({.task = "next_token", .input = "64", .classes = 65});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(describe(*text), "64 tokens of 65 classes");
  EXPECT_EQ(describe(*parse_shape({.task = "regression", .input = "8", .outputs = 2})),
            "8 to 2 outputs");
}

TEST(ShapeText, RefusesTextThatIsNoShape) {
  for (const char* wrong : {"", "x", "1x", "x1", "1x0", "1 x 2", "-1", "99999999999", "1x2y3",
                            "16777216x16777216", "1x1x1x1x1x1x1x1x1"}) {
    EXPECT_EQ(parse_shape({.input = wrong}).status().code(), StatusCode::invalid_argument) << wrong;
  }
  const Status task = parse_shape({.task = "clasification", .input = "1"}).status();
  EXPECT_NE(task.text().find("did you mean 'classification'"), std::string::npos) << task.text();
}

}  // namespace
}  // namespace tributary
