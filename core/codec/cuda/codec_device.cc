#include "core/codec/cuda/codec_device.h"

#include "core/codec/cuda/gcomp/loops.h"
#include "core/codec/cuda/lowrank/loops.h"
#include "core/codec/cuda/optimizer/loops.h"
#include "core/codec/cuda/quantize/loops.h"
#include "core/codec/cuda/signs/loops.h"
#include "core/codec/cuda/sparse/loops.h"
#include "core/codec/cuda/thc/loops.h"
#include "core/codec/cuda/threelc/loops.h"
#include "core/codec/cuda/vector/loops.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

class Device final : public CodecDevice {
 public:
  std::string_view name() const override { return kDeviceName; }
  quantize::DeviceLoops* quantize() override { return quantize_.get(); }
  sparse::DeviceLoops* sparse() override { return sparse_.get(); }
  gcomp::DeviceLoops* gcomp() override { return gcomp_.get(); }
  thc::DeviceLoops* thc() override { return thc_.get(); }
  signs::DeviceLoops* signs() override { return signs_.get(); }
  threelc::DeviceLoops* threelc() override { return threelc_.get(); }
  lowrank::DeviceLoops* lowrank() override { return lowrank_.get(); }
  optimizer::DeviceLoops* optimizer() override { return optimizer_.get(); }
  DeviceVectors* vectors() override { return vectors_.get(); }
  std::uint64_t allocations() const override { return TRIBUTARY_DEVICE::allocations(); }

 private:
  Workspaces workspaces_;
  const std::unique_ptr<quantize::DeviceLoops> quantize_ = make_quantize_loops(workspaces_);
  const std::unique_ptr<sparse::DeviceLoops> sparse_ = make_sparse_loops(workspaces_);
  const std::unique_ptr<gcomp::DeviceLoops> gcomp_ = make_gcomp_loops(workspaces_);
  const std::unique_ptr<thc::DeviceLoops> thc_ = make_thc_loops(workspaces_);
  const std::unique_ptr<signs::DeviceLoops> signs_ = make_sign_loops(workspaces_);
  const std::unique_ptr<threelc::DeviceLoops> threelc_ = make_ternary_loops(workspaces_);
  const std::unique_ptr<lowrank::DeviceLoops> lowrank_ = make_lowrank_loops(workspaces_);
  const std::unique_ptr<optimizer::DeviceLoops> optimizer_ = make_optimizer_loops(workspaces_);
  const std::unique_ptr<DeviceVectors> vectors_ = make_device_vectors(workspaces_);
};

}  // namespace

std::unique_ptr<CodecDevice> make_codec_device() { return std::make_unique<Device>(); }

}  // namespace tributary::TRIBUTARY_DEVICE
