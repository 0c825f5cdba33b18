// Tests of scaling measured codec times to the slowest device of a federation.
#include "core/plan/inputs/device_speeds.h"

#include <gtest/gtest.h>

#include <limits>

namespace tributary {
namespace {

constexpr double kNoSpeed = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

PlanCodec codec(const std::string& spec) {
  return {.spec = spec,
          .decode_s_per_value = 2e-9,
          .stages = {{.encode_s_per_value = 1e-9, .aggregate_s_per_value = 5e-9},
                     {.encode_s_per_value = 3e-9, .aggregate_s_per_value = 6e-9}}};
}

PlanCodec on(const std::vector<DeviceSpeeds>& devices) {
  const DeviceSpeeds here = {{"thc", {1e9, 2e9}}};
  return on_slowest({codec("thc:bits=4")}, here, devices)[0];
}

// The slowest device determines encoding and decoding independently; aggregation stays.
TEST(DeviceSpeedsTest, TheSlowestDeviceCounts) {
  const PlanCodec slowed = on({{{"thc", {0.5e9, 4e9}}}, {{"thc", {2e9, 0.5e9}}}});
  EXPECT_DOUBLE_EQ(slowed.stages[0].encode_s_per_value, 2e-9) << "both stages take twice as long";
  EXPECT_DOUBLE_EQ(slowed.stages[1].encode_s_per_value, 6e-9);
  EXPECT_DOUBLE_EQ(slowed.decode_s_per_value, 8e-9) << "by the other device";
  EXPECT_DOUBLE_EQ(slowed.stages[1].aggregate_s_per_value, 6e-9);
}

// Messages have no codec, so the slowest device's codecs stand for them.
TEST(DeviceSpeedsTest, TheSlowestDeviceIsComparedOverAllItsCodecs) {
  const DeviceSpeeds here = {{"thc", {1e9, 1e9}}, {"topk", {1e9, 1e9}}, {"fp16", {1e9, 1e9}}};
  const std::vector<DeviceSpeeds> devices = {
      {{"thc", {1e9, 1e9}}}, {{"thc", {0.5e9, 1e9}}, {"topk", {0.125e9, kNoSpeed}}}};
  EXPECT_NEAR(slowdown_of_slowest(here, devices), 4, 1e-9);
  EXPECT_EQ(slowdown_of_slowest(here, {}), 1);
  EXPECT_EQ(slowdown_of_slowest({}, devices), 1);
}

TEST(DeviceSpeedsTest, QuickDevicesAreQuicker) {
  const PlanCodec quick = on({{{"thc", {4e9, 4e9}}}, {{"thc", {2e9, 8e9}}}});
  EXPECT_DOUBLE_EQ(quick.stages[0].encode_s_per_value, 0.5e-9);
  EXPECT_DOUBLE_EQ(quick.decode_s_per_value, 1e-9);
}

// A device without a valid speed counts as equal to the measuring machine.
TEST(DeviceSpeedsTest, SilentAgentsHaveTheSpeedOfTheMeasuringMachine) {
  for (const DeviceSpeeds& silent :
       {DeviceSpeeds(), DeviceSpeeds{{"int8", {1, 1}}}, DeviceSpeeds{{"thc", {kNoSpeed, -1}}}}) {
    const PlanCodec same = on({{{"thc", {4e9, 4e9}}}, silent});
    EXPECT_DOUBLE_EQ(same.stages[0].encode_s_per_value, 1e-9);
    EXPECT_DOUBLE_EQ(same.decode_s_per_value, 2e-9);
  }
  EXPECT_DOUBLE_EQ(on({}).decode_s_per_value, 2e-9);
  const std::vector<DeviceSpeeds> devices = {{{"thc", {1, 1}}}};
  EXPECT_DOUBLE_EQ(on_slowest({codec("thc")}, {}, devices)[0].decode_s_per_value, 2e-9)
      << "with nothing to compare it with";
}

// The relative speed is bounded in both directions.
TEST(DeviceSpeedsTest, NoDeviceIsAssumedToBeInfinitelySlow) {
  const PlanCodec slow = on({{{"thc", {1e-300, 1}}}});
  EXPECT_DOUBLE_EQ(slow.stages[0].encode_s_per_value, 1e-9 * kDeviceFactorMax);
  EXPECT_DOUBLE_EQ(slow.decode_s_per_value, 2e-9 * kDeviceFactorMax);
  const PlanCodec quick = on({{{"thc", {kInf, 1e300}}}});
  EXPECT_DOUBLE_EQ(quick.stages[0].encode_s_per_value, 1e-9 / kDeviceFactorMax);
  EXPECT_DOUBLE_EQ(quick.decode_s_per_value, 2e-9 / kDeviceFactorMax);
}

}  // namespace
}  // namespace tributary
