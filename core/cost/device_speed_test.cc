// Tests of measuring the speeds of codecs on this machine.
#include "core/cost/device_speed.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/codec/registry.h"

namespace tributary {
namespace {

TEST(DeviceSpeedTest, EveryFamilyHasASpeed) {
  const SystemClock clock;
  const std::vector<DeviceSpeed> speeds = measure_device(clock, [] { return true; });
  ASSERT_EQ(speeds.size(), codec_families().size());
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    EXPECT_EQ(speeds[i].family, codec_families()[i].name);
    for (const double speed : {speeds[i].encode_bytes_per_s, speeds[i].decode_bytes_per_s}) {
      EXPECT_TRUE(std::isfinite(speed) && speed > 0) << speeds[i].family << ": " << speed;
    }
  }
}

TEST(DeviceSpeedTest, EndsOnRequest) {
  const SystemClock clock;
  int left = 2;
  EXPECT_EQ(measure_device(clock, [&] { return left-- > 0; }).size(), 2u);
  EXPECT_TRUE(measure_device(clock, [] { return false; }).empty());
}

}  // namespace
}  // namespace tributary
