#include "core/codec/cuda/gpu/quantize_cases.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "core/codec/cuda/quantize/quantize.h"
#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/kernels.h"

namespace tributary::cuda {
namespace {

constexpr LevelFormat kFormat = {};

// The data of all cases, which stays on the device.
struct QuantizeArrays {
  std::uint32_t n;
  FloatVector update;
  DeviceArray<float> x;
  DeviceArray<float> back;
  DeviceArray<std::uint16_t> words;
  DeviceArray<std::int8_t> levels;
  DeviceArray<float> scales;
  DeviceArray<std::uint32_t> largest;

  static Result<std::shared_ptr<QuantizeArrays>> make(const FloatVector& update) {
    const auto n = static_cast<std::uint32_t>(update.size());
    TRIBUTARY_ASSIGN(const Queue queue, Queue::make());
    TRIBUTARY_ASSIGN(auto x, DeviceArray<float>::copy_of(queue, update));
    TRIBUTARY_ASSIGN(auto back, DeviceArray<float>::make(n));
    TRIBUTARY_ASSIGN(auto words, DeviceArray<std::uint16_t>::make(n));
    TRIBUTARY_ASSIGN(auto levels, DeviceArray<std::int8_t>::make(n));
    TRIBUTARY_ASSIGN(auto scales, DeviceArray<float>::make(n / kFormat.block + 1));
    TRIBUTARY_ASSIGN(auto largest,
                     DeviceArray<std::uint32_t>::copy_of(queue, RawVector<std::uint32_t>(1, 0)));
    return std::make_shared<QuantizeArrays>(QuantizeArrays{n, update, std::move(x), std::move(back),
                                                           std::move(words), std::move(levels),
                                                           std::move(scales), std::move(largest)});
  }
};

// The levels of the specification, and the values that they decode to.
struct SpecifiedLevels {
  RawVector<std::int8_t> levels;
  FloatVector decoded;

  explicit SpecifiedLevels(const FloatVector& update)
      : levels(update.size()), decoded(update.size()) {
    const auto& spec = quantize::scalar_kernels();
    for (std::size_t at = 0; at < update.size(); at += kFormat.block) {
      const std::size_t count = std::min<std::size_t>(kFormat.block, update.size() - at);
      const float* const x = update.data() + at;
      const auto largest = std::bit_cast<float>(spec.largest_magnitude(x, count));
      const quantize::BlockScale scale = quantize::block_scale(largest);
      spec.to_nearest_levels(x, count, scale.levels_per_unit, levels.data() + at);
      spec.from_levels8(levels.data() + at, count, scale.step, decoded.data() + at);
    }
  }
};

Status check_halves(const QuantizeArrays& a, const Queue& queue) {
  RawVector<std::uint16_t> expected(a.n);
  RawVector<std::uint16_t> got(a.n);
  quantize::scalar_kernels().to_half(a.update.data(), a.n, expected.data());
  TRIBUTARY_TRY(a.words.read(queue, got));
  return same_as_specified(expected == got, "halves");
}

Status check_levels(const QuantizeArrays& a, const Queue& queue) {
  RawVector<std::int8_t> got(a.n);
  TRIBUTARY_TRY(a.levels.read(queue, got));
  return same_as_specified(SpecifiedLevels(a.update).levels == got, "levels");
}

// The decoders leave their values in `back`.
Status check_back(const QuantizeArrays& a, const Queue& queue, const FloatVector& expected,
                  const char* what) {
  FloatVector got(a.n);
  TRIBUTARY_TRY(a.back.read(queue, got));
  return same_as_specified(std::ranges::equal(expected, got), what);
}

Status check_decoded_halves(const QuantizeArrays& a, const Queue& queue) {
  FloatVector expected(a.n);
  for (std::uint32_t i = 0; i < a.n; ++i) {
    expected[i] = quantize::float_of_half(quantize::half_of(a.update[i]));
  }
  return check_back(a, queue, expected, "decoded halves");
}

}  // namespace

Result<std::vector<DeviceCase>> quantize_cases(const FloatVector& update) {
  TRIBUTARY_ASSIGN(const std::shared_ptr<QuantizeArrays> a, QuantizeArrays::make(update));
  const std::uint64_t bytes = std::uint64_t{a->n} * sizeof(float);
  return std::vector<DeviceCase>{
      {.name = "fp16 encode",
       .float_bytes = bytes,
       .start =
           [a](const Queue& queue) {
             return to_half(queue, a->x.data(), a->n, a->words.data(), a->largest.data());
           },
       .check = [a](const Queue& queue) { return check_halves(*a, queue); }},
      {.name = "fp16 decode",
       .float_bytes = bytes,
       .start =
           [a](const Queue& queue) {
             return from_half(queue, a->words.data(), a->n, a->back.data(), a->largest.data());
           },
       .check = [a](const Queue& queue) { return check_decoded_halves(*a, queue); }},
      {.name = "int8 encode",
       .float_bytes = bytes,
       .start =
           [a](const Queue& queue) {
             return to_scales_and_levels(queue, a->x.data(), a->n, kFormat, a->scales.data(),
                                         a->levels.data());
           },
       .check = [a](const Queue& queue) { return check_levels(*a, queue); }},
      {.name = "int8 decode",
       .float_bytes = bytes,
       .start =
           [a](const Queue& queue) {
             return from_levels8(queue, a->levels.data(), a->n, kFormat, a->scales.data(),
                                 a->back.data());
           },
       .check =
           [a](const Queue& queue) {
             return check_back(*a, queue, SpecifiedLevels(a->update).decoded, "decoded levels");
           }},
  };
}

}  // namespace tributary::cuda
