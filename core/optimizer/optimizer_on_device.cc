#include "core/optimizer/optimizer_on_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/codec/device/codec_device.h"
#include "core/optimizer/device_loops.h"

namespace tributary {

Result<OptimizerOnDevice> OptimizerOnDevice::make(CodecDevice& device, const Optimizer& from,
                                                  std::uint64_t values) {
  OptimizerOnDevice made(*device.optimizer(), from.settings(), from.steps());
  const std::shared_ptr<const Bytes> state = from.save();
  FloatVector start;
  for (unsigned which = 0; which < from.settings().moments(); ++which) {
    TRIBUTARY_ASSIGN(std::shared_ptr<DeviceVector> moment, device.vectors()->make(values));
    if (state) {
      const auto* const floats =
          reinterpret_cast<const float*>(state->data() + optimizer::kStateHeaderBytes);
      TRIBUTARY_TRY(moment->write(0, {floats + which * values, values}));
    } else {
      start.assign(values, optimizer::start_of_moment(from.settings(), which));
      TRIBUTARY_TRY(moment->write(0, start));
    }
    made.moments_.push_back(std::move(moment));
  }
  return made;
}

Status OptimizerOnDevice::apply(const optimizer::DeviceStep& step, DeviceVector& model) {
  const optimizer::Formula formula = optimizer::formula_of(settings_);
  const auto run_of = [&](DeviceVector& vector) {
    return vector.stand_in().subspan(step.first_value, step.sum.size()).data();
  };
  optimizer::Run run = {
      .sum = step.sum.data(), .parameters = run_of(model), .count = step.sum.size()};
  if (uses_first(formula)) run.first = run_of(*moments_.front());
  if (uses_second(formula)) run.second = run_of(*moments_.back());
  return loops_->step(formula,
                      optimizer::factors_of(settings_, {.learning_rate = step.learning_rate,
                                                        .divisor = step.divisor,
                                                        .step = steps_}),
                      run);
}

Result<Bytes> OptimizerOnDevice::save() const {
  Bytes state;
  if (moments_.empty()) return state;
  const std::size_t values = moments_.front()->size();
  state.resize(optimizer::kStateHeaderBytes + moments_.size() * values * sizeof(float));
  std::fill_n(state.begin(), optimizer::kStateHeaderBytes, std::uint8_t{0});
  std::memcpy(state.data(), &steps_, sizeof(steps_));
  auto* floats = reinterpret_cast<float*>(state.data() + optimizer::kStateHeaderBytes);
  for (const auto& moment : moments_) {
    TRIBUTARY_TRY(moment->read(0, {floats, values}));
    floats += values;
  }
  return state;
}

}  // namespace tributary
