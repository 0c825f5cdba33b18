// Tests of the picture of the bits by layer: its bars are as high as their numbers say.
#include "dashboard/pages/round/layer_bits_view.h"

#include <gtest/gtest.h>

#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {
namespace {

class LayerBitsViewTest : public testing::Test {
 protected:
  LayerBitsViewTest() {
    view_.resize(400, 100);
    view_.show_bits({{"conv1", 4}, {"conv2", 0}, {"fc", 2}, {"bias", 1}});
  }
  // The height of the bar of a layer, in pixels.
  int bar(int layer) {
    const QImage image = view_.grab().toImage();
    const QRgb fill = view_.palette().color(QPalette::Highlight).rgb();
    int pixels = 0;
    for (int y = 0; y < image.height(); ++y) {
      if (image.pixel(100 * layer + 40, y) == fill) ++pixels;
    }
    return pixels;
  }

  LayerBitsView view_;
};

TEST_F(LayerBitsViewTest, BarsAreAsHighAsTheirBits) {
  const int tallest = bar(0);
  EXPECT_GT(tallest, 40);
  EXPECT_EQ(bar(1), 0);
  EXPECT_NEAR(bar(2), tallest / 2.0, 2);
  EXPECT_NEAR(bar(3), tallest / 4.0, 2);
}

TEST_F(LayerBitsViewTest, NamesTheLayerUnderThePointer) {
  EXPECT_EQ(view_.layer_at(0), 0u);
  EXPECT_EQ(view_.layer_at(250), 2u);
  EXPECT_EQ(view_.layer_at(399.9), 3u);
  EXPECT_FALSE(view_.layer_at(400));
  EXPECT_FALSE(view_.layer_at(-1));
  EXPECT_EQ(view_.text_of_layer(2), "fc: 2 bits");
}

TEST_F(LayerBitsViewTest, IsHiddenWithoutNumbers) {
  EXPECT_FALSE(view_.isHidden());
  view_.show_bits({});
  EXPECT_TRUE(view_.isHidden());
  EXPECT_FALSE(view_.layer_at(10));
}

}  // namespace
}  // namespace tributary::dashboard
