// Tests of finding the first value that is not finite.
#include "core/update/finite.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/bytes/bytes.h"

namespace tributary {
namespace {

TEST(FirstNotFinite, LooksAtEveryValue) {
  // Two complete blocks and a part of a third. The largest float and a denormal are finite.
  FloatVector values(2100, std::numeric_limits<float>::max());
  values[7] = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(first_not_finite(values), std::nullopt);
  EXPECT_EQ(first_not_finite({}), std::nullopt);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float before = values[i];
    values[i] = i % 2 ? std::numeric_limits<float>::infinity()
                      : std::numeric_limits<float>::signaling_NaN();
    ASSERT_EQ(first_not_finite(values), i);
    values[i] = before;
  }
}

}  // namespace
}  // namespace tributary
