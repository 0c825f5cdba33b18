#include "core/codec/cuda/optimizer/loops.h"

#include "core/codec/cuda/optimizer/step.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

class OptimizerLoops final : public optimizer::DeviceLoops {
 public:
  explicit OptimizerLoops(Workspaces& workspaces) : workspaces_(workspaces) {}

  Status step(optimizer::Formula formula, const optimizer::Factors& factors,
              const optimizer::Run& run) override {
    const StepArrays arrays = {.sum = there(run.sum, run.count),
                               .parameters = there(run.parameters, run.count),
                               .first = there(run.first, run.count),
                               .second = there(run.second, run.count)};
    const bool whole = arrays.sum != nullptr && arrays.parameters != nullptr &&
                       (arrays.first != nullptr || !uses_first(formula)) &&
                       (arrays.second != nullptr || !uses_second(formula));
    if (!whole) {
      return Status(StatusCode::mismatch, {.what = "a step on the device",
                                           .expected = "values on the device",
                                           .got = "values in host memory",
                                           .remedy = "make the step on the host"});
    }
    TRIBUTARY_ASSIGN(const Workspace space, workspaces_.take());
    TRIBUTARY_TRY(make_step(space.queue(), formula, factors, arrays, run.count));
    return space.wait();
  }

 private:
  float* there(const float* stand_in, std::size_t count) const {
    if (stand_in == nullptr) return nullptr;
    return static_cast<float*>(workspaces_.stand_ins().find(stand_in, count * sizeof(float)));
  }

  Workspaces& workspaces_;
};

}  // namespace

std::unique_ptr<optimizer::DeviceLoops> make_optimizer_loops(Workspaces& workspaces) {
  return std::make_unique<OptimizerLoops>(workspaces);
}

}  // namespace tributary::TRIBUTARY_DEVICE
