// Tests of the choice of the SIMD target at run time.
#include "core/codec/simd/simd_target.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <cstdlib>

namespace tributary {
namespace {

TEST(SimdTarget, IsTheBestSupportedTarget) {
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    // The compiler decides which of the two a machine without vectors has, and that of the tests
    // may be another one.
    if (target == HWY_EMU128 || target == HWY_SCALAR) continue;
    hwy::SetSupportedTargetsForTest(target);
    const std::string_view chosen = simd_target();
    hwy::SetSupportedTargetsForTest(0);
    if ((target & HWY_TARGETS) != 0) {  // other targets are supported by the CPU, but not compiled
      EXPECT_EQ(chosen, hwy::TargetName(target));
    }
  }
}

// Vectors always exist on these architectures. A run without them would compare the specification
// with itself.
TEST(SimdTarget, IsNotTheSpecification) {
#if HWY_ARCH_X86_64 || HWY_ARCH_ARM_A64
  EXPECT_NE(simd_target(), "EMU128");
  EXPECT_NE(simd_target(), "SCALAR");
#endif
  // A test preset sets the instruction set that its run must use.
  if (const char* expected = std::getenv("TRIBUTARY_SIMD_TARGET")) {
    EXPECT_EQ(simd_target(), expected);
  }
}

}  // namespace
}  // namespace tributary
