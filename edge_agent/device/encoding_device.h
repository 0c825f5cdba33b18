// The device that encodes an agent's updates, chosen by the setting codec.device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/codec/device/codec_device.h"
#include "core/cost/faster_families.h"

namespace tributary {

enum class DeviceSetting : std::uint8_t { automatic, host, cuda, emulated };

// Fails with invalid_argument, and names the choices.
Result<DeviceSetting> device_setting(const std::string& name);

struct EncodingDevice {
  std::unique_ptr<CodecDevice> device = {};  // null: the host encodes
  Status unusable = {};                      // why not the GPU, if the setting allows one
  std::vector<FamilySpeed> speeds = {};      // what `automatic` has measured

  std::string_view name() const { return device != nullptr ? device->name() : "host"; }
};

using OpenGpu = std::function<Result<std::unique_ptr<CodecDevice>>()>;

// A machine without a usable GPU encodes on the host, with the same bytes; the caller of `cuda`
// warns. `automatic` measures which codecs the GPU encodes faster than the host with all threads of
// the pool, and takes it for those.
EncodingDevice open_encoding_device(DeviceSetting setting, const OpenGpu& open_gpu,
                                    ThreadPool& pool, const Clock& clock);

}  // namespace tributary
