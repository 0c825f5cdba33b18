#include "edge_agent/device/gpu.h"

namespace tributary {

Result<std::unique_ptr<CodecDevice>> open_gpu() {
  return Status(StatusCode::unsupported,
                {.what = "GPU",
                 .expected = "a build with code for GPUs",
                 .got = "a build without, because nvcc was not on the path",
                 .remedy = "encode on the host; the bytes are the same"});
}

}  // namespace tributary
