// The device that runs codecs' loops, for whole buckets in host memory. Each call copies its
// values to the device, and the result back.
#pragma once

#include <memory>

#include "core/codec/cuda/device.h"
#include "core/codec/device/codec_device.h"

namespace tributary::TRIBUTARY_DEVICE {

std::unique_ptr<CodecDevice> make_codec_device();

}  // namespace tributary::TRIBUTARY_DEVICE
