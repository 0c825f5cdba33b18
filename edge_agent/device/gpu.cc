#include "edge_agent/device/gpu.h"

#include "core/codec/cuda/codec_device.h"

namespace tributary {

Result<std::unique_ptr<CodecDevice>> open_gpu() {
  TRIBUTARY_TRY(cuda::device_available());
  return cuda::make_codec_device();
}

}  // namespace tributary
