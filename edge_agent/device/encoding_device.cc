#include "edge_agent/device/encoding_device.h"

#include <utility>

#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/emulated/emulated_testing.h"

namespace tributary {

Result<DeviceSetting> device_setting(const std::string& name) {
  if (name == "auto") return DeviceSetting::automatic;
  if (name == "host") return DeviceSetting::host;
  if (name == "cuda") return DeviceSetting::cuda;
  if (name == "emulated") return DeviceSetting::emulated;
  return Status(StatusCode::invalid_argument, {.what = "setting codec.device",
                                               .expected = "auto, host, cuda or emulated",
                                               .got = name,
                                               .remedy = {}});
}

EncodingDevice open_encoding_device(DeviceSetting setting, const OpenGpu& open_gpu,
                                    ThreadPool& pool, const Clock& clock) {
  if (setting == DeviceSetting::host) return {};
  if (setting == DeviceSetting::emulated) {
    // As on a GPU.
    emulated::keep_memory(true);
    return {.device = emulated::make_codec_device()};
  }
  Result<std::unique_ptr<CodecDevice>> gpu = open_gpu();
  if (!gpu.ok()) return {.unusable = std::move(gpu).status()};
  if (setting == DeviceSetting::cuda) return {.device = std::move(*gpu)};
  FasterFamilies faster = choose_faster_families(std::move(*gpu), pool, clock);
  EncodingDevice chosen{.device = std::move(faster.device), .speeds = std::move(faster.speeds)};
  if (chosen.device == nullptr) {
    chosen.unusable = Status(
        StatusCode::unavailable,
        {.what = "GPU", .expected = "codecs that it encodes faster", .got = "none", .remedy = {}});
  }
  return chosen;
}

}  // namespace tributary
