// Shows that the tests find a wait that is missing: copies of the functions of vectors with one
// fault each (CMakeLists.txt) give other values, in some orders of the device's operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/workspace.h"

#include <planted_waits/all_waits.cu>
#include <planted_waits/another_stream.cu>
#include <planted_waits/residual_without_wait.cu>
#include <planted_waits/values_without_wait.cu>

namespace tributary::emulated {
namespace {

constexpr std::size_t kValues = 1000;
constexpr std::uint32_t kOrders = 16;

// The sum with a residual and the residual that an encoding of 2 leaves, in one order.
bool gives_right_values(decltype(make_device_vectors) make, std::uint32_t seed) {
  set_order_seed(seed);
  Workspaces workspaces;
  const auto vectors = make(workspaces);
  const auto update = vectors->copy_of(FloatVector(kValues, 3.0f));
  EXPECT_TRUE(update.ok());
  const auto sum = (*update)->plus(FloatVector(kValues, 4.0f), 1);
  const auto decoded = vectors->copy_of(FloatVector(kValues, 2.0f));
  EXPECT_TRUE(sum.ok() && decoded.ok());
  FloatVector values(kValues, 0.0f);
  FloatVector left(kValues, 0.0f);
  EXPECT_TRUE((*sum)->read(0, values).ok());
  EXPECT_TRUE((*sum)->keep_residual(0, **decoded, left).ok());
  return values == FloatVector(kValues, 7.0f) && left == FloatVector(kValues, 5.0f);
}

std::uint32_t orders_that_are_right(decltype(make_device_vectors) make) {
  std::uint32_t right = 0;
  for (std::uint32_t seed = 1; seed <= kOrders; ++seed) right += gives_right_values(make, seed);
  return right;
}

TEST(PlantedWaits, AreFound) {
  EXPECT_EQ(orders_that_are_right(all_waits::make_device_vectors), kOrders);
  EXPECT_LT(orders_that_are_right(values_without_wait::make_device_vectors), kOrders);
  EXPECT_LT(orders_that_are_right(residual_without_wait::make_device_vectors), kOrders);
  EXPECT_LT(orders_that_are_right(another_stream::make_device_vectors), kOrders);
}

}  // namespace
}  // namespace tributary::emulated
