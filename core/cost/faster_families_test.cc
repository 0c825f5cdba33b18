#include "core/cost/faster_families.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/codec/cuda/codec_device.h"

namespace tributary {
namespace {

TEST(FasterFamiliesOfADevice, AreThoseThatItEncodesFaster) {
  const auto device = with_faster_families(
      emulated::make_codec_device(),
      {{"int8", 2.0, 1.0}, {"thc", 1.0, 2.0}, {"topk", 1.0, 1.0}, {"gcomp", 0.5, 0.6}});
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->name(), "emulated");
  EXPECT_NE(device->thc(), nullptr);
  EXPECT_NE(device->gcomp(), nullptr);
  EXPECT_EQ(device->quantize(), nullptr);
  EXPECT_EQ(device->sparse(), nullptr);
  EXPECT_EQ(device->signs(), nullptr) << "it was not measured";
}

TEST(FasterFamiliesOfADevice, AreNoneIfTheHostIsFasterForAll) {
  EXPECT_EQ(with_faster_families(emulated::make_codec_device(), {{"int8", 2.0, 1.0}}), nullptr);
  EXPECT_EQ(with_faster_families(emulated::make_codec_device(), {}), nullptr);
}

// The emulated device is tens of times slower than the host.
TEST(FasterFamiliesOfADevice, AreMeasured) {
  constexpr std::uint32_t kMeasuredValues = 1u << 14;
  ThreadPool pool(2);
  const SystemClock clock;
  const FasterFamilies faster =
      choose_faster_families(emulated::make_codec_device(), pool, clock, kMeasuredValues);
  EXPECT_EQ(faster.device, nullptr);
  EXPECT_EQ(faster.speeds.size(), 7u);
  for (const FamilySpeed& speed : faster.speeds) {
    EXPECT_GT(speed.device_s, 0) << speed.codec;
    EXPECT_GT(speed.host_s, 0) << speed.codec;
  }
}

}  // namespace
}  // namespace tributary
