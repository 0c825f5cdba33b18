#include "core/codec/cuda/quantize_device.h"

#include "core/codec/cuda/device_quantize.h"

namespace tributary::emulated {
namespace {

template <typename T>
std::uint32_t count_of(std::span<const T> values) {
  return static_cast<std::uint32_t>(values.size());
}

std::size_t blocks_of(const LevelFormat& format, std::size_t values) {
  return (values + format.block - 1) / format.block;
}

class QuantizeDevice final : public CodecDevice {
 public:
  std::string_view name() const override { return "emulated"; }

  Result<std::uint32_t> encode_words(SixteenBitFormat format, std::span<const float> values,
                                     std::uint16_t* words) override {
    return convert(format == SixteenBitFormat::half ? to_half : to_bfloat, values, words);
  }
  Result<std::uint32_t> decode_words(SixteenBitFormat format, std::span<const std::uint16_t> words,
                                     float* values) override {
    return convert(format == SixteenBitFormat::half ? from_half : from_bfloat, words, values);
  }

  Status find_scales(const LevelFormat& format, std::span<const float> values,
                     float* scales) override {
    TRIBUTARY_ASSIGN(const Queue queue, Queue::make());
    TRIBUTARY_ASSIGN(const auto x, DeviceArray<float>::copy_of(queue, values));
    TRIBUTARY_ASSIGN(auto found, DeviceArray<float>::make(blocks_of(format, values.size())));
    TRIBUTARY_TRY(emulated::find_scales(queue, x.data(), count_of(values), format, found.data()));
    return found.read(queue, {scales, found.size()});
  }

  Status encode_levels(const LevelFormat& format, std::span<const float> values,
                       const float* scales, std::int8_t* levels) override {
    TRIBUTARY_ASSIGN(const Queue queue, Queue::make());
    TRIBUTARY_ASSIGN(const auto x, DeviceArray<float>::copy_of(queue, values));
    TRIBUTARY_ASSIGN(const auto given, DeviceArray<float>::copy_of(
                                           queue, {scales, blocks_of(format, values.size())}));
    TRIBUTARY_ASSIGN(auto made, DeviceArray<std::int8_t>::make(values.size()));
    TRIBUTARY_TRY(to_levels(queue, x.data(), count_of(values), format, given.data(), made.data()));
    return made.read(queue, {levels, values.size()});
  }

  Status encode_scales_and_levels(const LevelFormat& format, std::span<const float> values,
                                  float* scales, std::int8_t* levels) override {
    TRIBUTARY_ASSIGN(const Queue queue, Queue::make());
    TRIBUTARY_ASSIGN(const auto x, DeviceArray<float>::copy_of(queue, values));
    TRIBUTARY_ASSIGN(auto found, DeviceArray<float>::make(blocks_of(format, values.size())));
    TRIBUTARY_ASSIGN(auto made, DeviceArray<std::int8_t>::make(values.size()));
    TRIBUTARY_TRY(
        to_scales_and_levels(queue, x.data(), count_of(values), format, found.data(), made.data()));
    TRIBUTARY_TRY(found.read(queue, {scales, found.size()}));
    return made.read(queue, {levels, values.size()});
  }

  Status decode_levels8(const LevelFormat& format, std::span<const std::int8_t> levels,
                        const float* scales, float* values) override {
    return decode(from_levels8, format, levels, scales, values);
  }
  Status decode_levels16(const LevelFormat& format, std::span<const std::int16_t> levels,
                         const float* scales, float* values) override {
    return decode(from_levels16, format, levels, scales, values);
  }
  Status decode_levels32(const LevelFormat& format, std::span<const std::int32_t> levels,
                         const float* scales, float* values) override {
    return decode(from_levels32, format, levels, scales, values);
  }

 private:
  template <typename From, typename To>
  static Result<std::uint32_t> convert(Status (*loop)(const Queue&, const From*, std::uint32_t, To*,
                                                      std::uint32_t*),
                                       std::span<const From> from, To* to) {
    constexpr std::uint32_t kNone[] = {0};
    std::uint32_t largest = 0;
    TRIBUTARY_ASSIGN(const Queue queue, Queue::make());
    TRIBUTARY_ASSIGN(const auto input, DeviceArray<From>::copy_of(queue, from));
    TRIBUTARY_ASSIGN(auto output, DeviceArray<To>::make(from.size()));
    TRIBUTARY_ASSIGN(auto found, DeviceArray<std::uint32_t>::copy_of(queue, kNone));
    TRIBUTARY_TRY(loop(queue, input.data(), count_of(from), output.data(), found.data()));
    TRIBUTARY_TRY(found.read(queue, {&largest, 1}));
    TRIBUTARY_TRY(output.read(queue, {to, from.size()}));
    return largest;
  }

  template <typename Level>
  static Status decode(Status (*loop)(const Queue&, const Level*, std::uint32_t, const LevelFormat&,
                                      const float*, float*),
                       const LevelFormat& format, std::span<const Level> levels,
                       const float* scales, float* values) {
    TRIBUTARY_ASSIGN(const Queue queue, Queue::make());
    TRIBUTARY_ASSIGN(const auto input, DeviceArray<Level>::copy_of(queue, levels));
    TRIBUTARY_ASSIGN(const auto given, DeviceArray<float>::copy_of(
                                           queue, {scales, blocks_of(format, levels.size())}));
    TRIBUTARY_ASSIGN(auto output, DeviceArray<float>::make(levels.size()));
    TRIBUTARY_TRY(loop(queue, input.data(), count_of(levels), format, given.data(), output.data()));
    return output.read(queue, {values, levels.size()});
  }
};

}  // namespace

std::unique_ptr<CodecDevice> make_codec_device() { return std::make_unique<QuantizeDevice>(); }

}  // namespace tributary::emulated
