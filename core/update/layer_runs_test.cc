// Tests of the matrices that a bucket contains.
#include "core/update/layer_runs.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

LayerMap some_layers() {
  return *LayerMap::make({{"scalar", {}},
                          {"empty", {0, 3}},
                          {"matrix", {6, 5}},
                          {"convolution", {4, 2, 3, 3}},
                          {"vector", {17}},
                          {"position", {1, 7, 3}}});
}

using Runs = std::vector<LayerRun>;

TEST(LayerRuns, AreTheMatricesOfWholeLayers) {
  const LayerMap map = some_layers();
  EXPECT_EQ(layer_runs(map, 0, 141, LayerPart::rows),
            (Runs{{0, 1, 1}, {1, 30, 6}, {31, 72, 4}, {103, 17, 1}, {120, 21, 7}}));
  // A plan of an earlier build counts rows by the first extent.
  EXPECT_EQ(layer_runs(map, 120, 21, LayerPart::vector), (Runs{{0, 21, 1}}));
}

TEST(LayerRuns, APartIsAMatrixIfItConsistsOfWholeRows) {
  const LayerMap map = some_layers();
  EXPECT_EQ(layer_runs(map, 11, 10, LayerPart::rows), (Runs{{0, 10, 2}}));
  EXPECT_EQ(layer_runs(map, 11, 10, LayerPart::vector), (Runs{{0, 10, 1}}));
  EXPECT_EQ(layer_runs(map, 12, 10, LayerPart::rows), (Runs{{0, 10, 1}})) << "no row begins there";
  EXPECT_EQ(layer_runs(map, 11, 9, LayerPart::rows), (Runs{{0, 9, 1}})) << "no row ends there";
  EXPECT_EQ(layer_runs(map, 26, 23, LayerPart::rows), (Runs{{0, 5, 1}, {5, 18, 1}}));
  EXPECT_EQ(layer_runs(map, 21, 46, LayerPart::rows), (Runs{{0, 10, 2}, {10, 36, 2}}));
}

}  // namespace
}  // namespace tributary
