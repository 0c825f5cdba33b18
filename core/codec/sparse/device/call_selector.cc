#include "core/codec/sparse/device/call_selector.h"

#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/sparse/elements.h"

namespace tributary::sparse {
namespace {

Result<Selection> from_host(Selector::Indices indices) {
  TRIBUTARY_TRY(indices.status());
  return Selection{.indices = *indices};
}

}  // namespace

Result<Selection> CallSelector::from_device(std::span<const float> values) const {
  if (device_.largest >= kInfinityBits) return not_finite_error(values);
  return Selection{.indices = device_.indices, .values = device_.values};
}

Result<Selection> CallSelector::top(const StageCall& call, std::span<const float> values,
                                    std::uint32_t k) {
  const bool done = encoded_on_device(call, &CodecDevice::sparse, [&](DeviceLoops& device) {
    return device.select_top(values, k, device_);
  });
  if (done) return from_device(values);
  return from_host(host_.top(call.execution, values, k));
}

Result<Selection> CallSelector::bisected(const StageCall& call, std::span<const float> values,
                                         std::uint32_t k, unsigned bisections) {
  const bool done = encoded_on_device(call, &CodecDevice::sparse, [&](DeviceLoops& device) {
    return device.select_bisected(values, k, bisections, device_);
  });
  if (done) return from_device(values);
  return from_host(host_.bisected(call.execution, values, k, bisections));
}

Result<Selection> CallSelector::sampled(const StageCall& call, std::span<const float> values,
                                        const SampledRank& sample,
                                        std::optional<std::uint32_t> k_max) {
  const bool done = encoded_on_device(call, &CodecDevice::sparse, [&](DeviceLoops& device) {
    return device.select_sampled(values, sample, k_max, device_);
  });
  if (done) return from_device(values);
  const std::uint32_t threshold = sampled_magnitude(call.execution, values, sample);
  if (k_max) return from_host(host_.at_least_up_to(call.execution, values, threshold, *k_max));
  return from_host(host_.at_least(call.execution, values, threshold));
}

}  // namespace tributary::sparse
