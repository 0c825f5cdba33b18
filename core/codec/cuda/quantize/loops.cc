#include "core/codec/cuda/quantize/loops.h"

#include "core/codec/cuda/quantize/qsgd.h"
#include "core/codec/cuda/quantize/quantize.h"
#include "core/codec/cuda/workspace.h"
#include "core/codec/quantize/packed_levels.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using quantize::SixteenBitFormat;

template <typename T>
std::uint32_t count_of(std::span<const T> values) {
  return static_cast<std::uint32_t>(values.size());
}

template <typename Format>
std::size_t blocks_of(const Format& format, std::size_t values) {
  return (values + format.block - 1) / format.block;
}

class QuantizeLoops final : public quantize::DeviceLoops {
 public:
  explicit QuantizeLoops(Workspaces& workspaces) : workspaces_(workspaces) {}

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
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(auto* const found, space.array<float>(blocks_of(format, values.size())));
    TRIBUTARY_TRY(TRIBUTARY_DEVICE::find_scales(space.queue(), x, count_of(values), format, found));
    TRIBUTARY_TRY(space.download(found, std::span(scales, blocks_of(format, values.size()))));
    return space.wait();
  }

  Status encode_levels(const LevelFormat& format, std::span<const float> values,
                       const float* scales, std::int8_t* levels) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(const auto* const given,
                     space.upload(std::span(scales, blocks_of(format, values.size()))));
    TRIBUTARY_ASSIGN(auto* const made, space.array<std::int8_t>(values.size()));
    TRIBUTARY_TRY(to_levels(space.queue(), x, count_of(values), format, given, made));
    TRIBUTARY_TRY(space.download(made, std::span(levels, values.size())));
    return space.wait();
  }

  Status encode_scales_and_levels(const LevelFormat& format, std::span<const float> values,
                                  float* scales, std::int8_t* levels) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(auto* const found, space.array<float>(blocks_of(format, values.size())));
    TRIBUTARY_ASSIGN(auto* const made, space.array<std::int8_t>(values.size()));
    TRIBUTARY_TRY(to_scales_and_levels(space.queue(), x, count_of(values), format, found, made));
    TRIBUTARY_TRY(space.download(found, std::span(scales, blocks_of(format, values.size()))));
    TRIBUTARY_TRY(space.download(made, std::span(levels, values.size())));
    return space.wait();
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

  Result<std::uint32_t> encode_packed(const PackedFormat& format, std::span<const float> values,
                                      float* norms, std::uint8_t* packed) override {
    constexpr std::uint32_t kNone[] = {0};
    const std::size_t blocks = blocks_of(format, values.size());
    std::uint32_t largest = 0;
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(auto* const found, space.array<float>(blocks));
    TRIBUTARY_ASSIGN(auto* const made, space.array<std::uint8_t>(quantize::packed_bytes(
                                           (values.size() + 31) / 32 * 32, format.bits)));
    TRIBUTARY_ASSIGN(auto* const seen, space.upload(std::span<const std::uint32_t>(kNone)));
    TRIBUTARY_TRY(find_norms(space.queue(), x, count_of(values), format, found, seen));
    TRIBUTARY_TRY(to_packed_levels(space.queue(), x, count_of(values), format, found, made));
    TRIBUTARY_TRY(space.download(seen, std::span(&largest, 1)));
    TRIBUTARY_TRY(space.download(found, std::span(norms, blocks)));
    TRIBUTARY_TRY(space.download(
        made, std::span(packed, quantize::packed_bytes(values.size(), format.bits))));
    TRIBUTARY_TRY(space.wait());
    return largest;
  }

  Status decode_packed(const PackedFormat& format, const float* norms, const std::uint8_t* packed,
                       std::span<float> values) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const given,
                     space.upload(std::span(norms, blocks_of(format, values.size()))));
    TRIBUTARY_ASSIGN(
        const auto* const in,
        space.upload(std::span(packed, quantize::packed_bytes(values.size(), format.bits))));
    TRIBUTARY_ASSIGN(auto* const x, space.target(values));
    TRIBUTARY_TRY(from_packed_levels(space.queue(), in, static_cast<std::uint32_t>(values.size()),
                                     format, given, x));
    TRIBUTARY_TRY(space.download(x, values));
    return space.wait();
  }

 private:
  template <typename From, typename To>
  Result<std::uint32_t> convert(Status (*loop)(const Queue&, const From*, std::uint32_t, To*,
                                               std::uint32_t*),
                                std::span<const From> from, To* to) {
    constexpr std::uint32_t kNone[] = {0};
    std::uint32_t largest = 0;
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const input, space.upload(from));
    TRIBUTARY_ASSIGN(auto* const output, space.target(std::span(to, from.size())));
    TRIBUTARY_ASSIGN(auto* const found, space.upload(std::span<const std::uint32_t>(kNone)));
    TRIBUTARY_TRY(loop(space.queue(), input, count_of(from), output, found));
    TRIBUTARY_TRY(space.download(found, std::span(&largest, 1)));
    TRIBUTARY_TRY(space.download(output, std::span(to, from.size())));
    TRIBUTARY_TRY(space.wait());
    return largest;
  }

  template <typename Level>
  Status decode(Status (*loop)(const Queue&, const Level*, std::uint32_t, const LevelFormat&,
                               const float*, float*),
                const LevelFormat& format, std::span<const Level> levels, const float* scales,
                float* values) {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const input, space.upload(levels));
    TRIBUTARY_ASSIGN(const auto* const given,
                     space.upload(std::span(scales, blocks_of(format, levels.size()))));
    TRIBUTARY_ASSIGN(auto* const output, space.target(std::span(values, levels.size())));
    TRIBUTARY_TRY(loop(space.queue(), input, count_of(levels), format, given, output));
    TRIBUTARY_TRY(space.download(output, std::span(values, levels.size())));
    return space.wait();
  }

  Workspaces& workspaces_;
};

}  // namespace

std::unique_ptr<quantize::DeviceLoops> make_quantize_loops(Workspaces& workspaces) {
  return std::make_unique<QuantizeLoops>(workspaces);
}

}  // namespace tributary::TRIBUTARY_DEVICE
