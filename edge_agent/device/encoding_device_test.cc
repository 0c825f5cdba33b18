#include "edge_agent/device/encoding_device.h"

#include <gtest/gtest.h>

#include "core/codec/cuda/codec_device.h"
#include "edge_agent/device/gpu.h"

namespace tributary {
namespace {

Result<std::unique_ptr<CodecDevice>> no_driver() {
  return Status(StatusCode::unavailable,
                {.what = "GPU", .expected = "a driver", .got = "none", .remedy = {}});
}

TEST(EncodingDevices, HaveFourNames) {
  EXPECT_EQ(*device_setting("auto"), DeviceSetting::automatic);
  EXPECT_EQ(*device_setting("host"), DeviceSetting::host);
  EXPECT_EQ(*device_setting("cuda"), DeviceSetting::cuda);
  EXPECT_EQ(*device_setting("emulated"), DeviceSetting::emulated);
  const Status status = device_setting("gpu").status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.text().find("codec.device: expected auto, host, cuda or emulated, got gpu"),
            std::string::npos)
      << status.text();
}

Result<std::unique_ptr<CodecDevice>> emulated_gpu() { return emulated::make_codec_device(); }

EncodingDevice opened(DeviceSetting setting, const OpenGpu& open_gpu) {
  ThreadPool pool(2);
  const SystemClock clock;
  return open_encoding_device(setting, open_gpu, pool, clock);
}

TEST(EncodingDevices, AreTheGpuIfThereIsOne) {
  const EncodingDevice device = opened(DeviceSetting::cuda, emulated_gpu);
  EXPECT_EQ(device.name(), "emulated");
  EXPECT_TRUE(device.unusable.ok());
  EXPECT_TRUE(device.speeds.empty());
}

TEST(EncodingDevices, AreTheHostIfTheGpuIsSlower) {
  const EncodingDevice device = opened(DeviceSetting::automatic, emulated_gpu);
  EXPECT_EQ(device.name(), "host");
  EXPECT_FALSE(device.speeds.empty());
  EXPECT_NE(device.unusable.text().find("codecs that it encodes faster"), std::string::npos);
}

TEST(EncodingDevices, AreTheHostIfThereIsNoGpuAndSayWhy) {
  for (const DeviceSetting setting : {DeviceSetting::automatic, DeviceSetting::cuda}) {
    const EncodingDevice device = opened(setting, no_driver);
    EXPECT_EQ(device.device, nullptr);
    EXPECT_EQ(device.name(), "host");
    EXPECT_NE(device.unusable.text().find("expected a driver, got none"), std::string::npos);
  }
}

TEST(EncodingDevices, ThatAreNoGpuAskForNone) {
  const OpenGpu never = []() -> Result<std::unique_ptr<CodecDevice>> {
    ADD_FAILURE();
    return no_driver();
  };
  const EncodingDevice host = opened(DeviceSetting::host, never);
  EXPECT_EQ(host.device, nullptr);
  EXPECT_TRUE(host.unusable.ok());
  EXPECT_EQ(opened(DeviceSetting::emulated, never).name(), "emulated");
}

// A build without nvcc says so. Other builds have a GPU, or the driver's reason.
TEST(EncodingDevices, OpenTheGpuOfThisMachine) {
  const auto gpu = open_gpu();
  if (gpu.ok()) {
    EXPECT_EQ((*gpu)->name(), "cuda");
    return;
  }
  const Status status = gpu.status();
  EXPECT_TRUE(status.code() == StatusCode::unavailable || status.code() == StatusCode::unsupported)
      << status.text();
  EXPECT_NE(status.text().find("encode on the host"), std::string::npos) << status.text();
}

}  // namespace
}  // namespace tributary
