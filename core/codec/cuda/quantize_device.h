// The loops of device_quantize.h for codecs: whole buckets in host memory, copied to the device and
// back in each call.
#pragma once

#include <memory>

#include "core/codec/device/codec_device.h"

namespace tributary::emulated {

std::unique_ptr<CodecDevice> make_codec_device();

}  // namespace tributary::emulated
