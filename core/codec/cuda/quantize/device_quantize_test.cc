// Compares a device's bytes with those of the scalar specification. Built for the emulated device
// everywhere and, where nvcc is, for a GPU. Skipped, with the reason, if the device is not
// available.
#include "core/codec/cuda/quantize/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/device_testing.h"
#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/int8_blocks.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::kPatterns;
using codec_testing::Pattern;
using quantize::scalar_kernels;

// The last size has several runs, CUDA blocks and turns of the smallest grid.
constexpr std::size_t kSizes[] = {0, 1, 3, 4, 5, 63, 64, 65, 1024, 4095, 4097, 9001};

using DeviceQuantize = DeviceTest;

// Calls body(update) for every pattern and size.
template <typename Body>
void for_each_update(const Body& body) {
  for (const Pattern pattern : kPatterns) {
    for (const std::size_t size : kSizes) {
      SCOPED_TRACE(testing::Message() << size << " values, pattern " << static_cast<int>(pattern));
      body(codec_testing::update(pattern, size, 0));
      if (testing::Test::HasFailure()) return;
    }
  }
}

using ToDevice = Status (*)(const Queue&, const float*, std::uint32_t, std::uint16_t*,
                            std::uint32_t*);
using FromDevice = Status (*)(const Queue&, const std::uint16_t*, std::uint32_t, float*,
                              std::uint32_t*);

class DeviceSixteenBits : public DeviceQuantize {
 protected:
  void compare(ToDevice to, FromDevice from, decltype(quantize::Kernels::to_half) spec_to,
               decltype(quantize::Kernels::from_half) spec_from) const {
    for_each_update([&](const FloatVector& update) {
      compare_on(queue(), update, to, from, spec_to, spec_from);
      compare_on(narrow_queue(), update, to, from, spec_to, spec_from);
    });
  }

 private:
  void compare_on(const Queue& queue, const FloatVector& update, ToDevice to, FromDevice from,
                  decltype(quantize::Kernels::to_half) spec_to,
                  decltype(quantize::Kernels::from_half) spec_from) const {
    const auto n = static_cast<std::uint32_t>(update.size());
    RawVector<std::uint16_t> expected(n);
    const std::uint32_t expected_largest = spec_to(update.data(), n, expected.data());

    const auto x = on_device<float>(update);
    auto words = zeros<std::uint16_t>(n);
    auto largest = zeros<std::uint32_t>(1);
    ASSERT_TRUE(to(queue, x.data(), n, words.data(), largest.data()).ok());
    ASSERT_EQ(on_host(queue, words), expected);
    ASSERT_EQ(on_host(queue, largest)[0], expected_largest);

    FloatVector decoded(n);
    const std::uint32_t expected_word = spec_from(expected.data(), n, decoded.data());
    auto back = zeros<float>(n);
    auto largest_word = zeros<std::uint32_t>(1);
    ASSERT_TRUE(from(queue, words.data(), n, back.data(), largest_word.data()).ok());
    ASSERT_EQ(codec_testing::bits_of(on_host(queue, back)), codec_testing::bits_of(decoded));
    ASSERT_EQ(on_host(queue, largest_word)[0], expected_word);
  }
};

TEST_F(DeviceSixteenBits, HalvesAreTheSpecifications) {
  compare(to_half, from_half, scalar_kernels().to_half, scalar_kernels().from_half);
}

TEST_F(DeviceSixteenBits, BfloatsAreTheSpecifications) {
  compare(to_bfloat, from_bfloat, scalar_kernels().to_bfloat, scalar_kernels().from_bfloat);
}

struct Expected {
  FloatVector scales;
  RawVector<std::int8_t> levels;
};

Expected specified(const FloatVector& update, const LevelFormat& format) {
  const quantize::Int8Options options = {.block = format.block,
                                         .random_rounding = format.random_rounding};
  Expected out;
  out.scales.resize(options.blocks(update.size()));
  out.levels.resize(update.size());
  const auto& spec = scalar_kernels();
  quantize::for_each_block(
      {}, options, update.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
        const float* const x = update.data() + begin;
        out.scales[block] = std::bit_cast<float>(spec.largest_magnitude(x, end - begin));
        const float per_unit = quantize::block_scale(out.scales[block]).levels_per_unit;
        if (format.random_rounding) {
          spec.to_random_levels(x, end - begin, per_unit, format.key,
                                static_cast<std::uint32_t>(begin), out.levels.data() + begin);
        } else {
          spec.to_nearest_levels(x, end - begin, per_unit, out.levels.data() + begin);
        }
      });
  return out;
}

class DeviceLevels : public DeviceQuantize,
                     public testing::WithParamInterface<std::pair<std::uint32_t, bool>> {
 protected:
  LevelFormat format() const {
    return {.block = GetParam().first,
            .random_rounding = GetParam().second,
            .key = stream_key({.job_seed = 5, .purpose = DrawPurpose::rounding, .agent = 2})};
  }

  void compare_encoding(const Queue& queue, const FloatVector& update,
                        const Expected& expected) const {
    const auto n = static_cast<std::uint32_t>(update.size());
    const auto x = on_device<float>(update);
    auto scales = zeros<float>(expected.scales.size());
    auto levels = zeros<std::int8_t>(n);
    ASSERT_TRUE(
        to_scales_and_levels(queue, x.data(), n, format(), scales.data(), levels.data()).ok());
    ASSERT_EQ(on_host(queue, scales), expected.scales);
    ASSERT_EQ(on_host(queue, levels), expected.levels);

    auto shared_scales = zeros<float>(expected.scales.size());
    auto shared_levels = zeros<std::int8_t>(n);
    ASSERT_TRUE(find_scales(queue, x.data(), n, format(), shared_scales.data()).ok());
    ASSERT_TRUE(
        to_levels(queue, x.data(), n, format(), shared_scales.data(), shared_levels.data()).ok());
    ASSERT_EQ(on_host(queue, shared_scales), expected.scales);
    ASSERT_EQ(on_host(queue, shared_levels), expected.levels);
  }

  // Decodes levels of 8 bits, or sums of them that are `factor` times as large.
  template <typename Level, typename FromLevels, typename SpecFromLevels>
  void compare_decoding(const Queue& queue, const Expected& expected, int factor,
                        FromLevels from_levels, SpecFromLevels spec) const {
    const auto n = static_cast<std::uint32_t>(expected.levels.size());
    RawVector<Level> sums(n);
    std::ranges::transform(expected.levels, sums.begin(),
                           [&](std::int8_t level) { return static_cast<Level>(level * factor); });
    FloatVector decoded(n);
    quantize::for_each_block({}, {.block = format().block}, n,
                             [&](std::size_t block, std::size_t begin, std::size_t end) {
                               const float step =
                                   quantize::block_scale(expected.scales[block]).step;
                               spec(sums.data() + begin, end - begin, step, decoded.data() + begin);
                             });
    const auto scales = on_device<float>(expected.scales);
    const auto levels = on_device<Level>(sums);
    auto back = zeros<float>(n);
    ASSERT_TRUE(from_levels(queue, levels.data(), n, format(), scales.data(), back.data()).ok());
    ASSERT_EQ(codec_testing::bits_of(on_host(queue, back)), codec_testing::bits_of(decoded));
  }
};

TEST_P(DeviceLevels, AreTheSpecifications) {
  for_each_update([&](const FloatVector& update) {
    const Expected expected = specified(update, format());
    compare_encoding(queue(), update, expected);
    compare_decoding<std::int8_t>(queue(), expected, 1, from_levels8,
                                  scalar_kernels().from_levels8);
  });
}

TEST_P(DeviceLevels, AreTheSameInSeveralTurns) {
  const FloatVector update = codec_testing::update(Pattern::lognormal, kSizes[11], 0);
  const Expected expected = specified(update, format());
  compare_encoding(narrow_queue(), update, expected);
  compare_decoding<std::int16_t>(narrow_queue(), expected, 255, from_levels16,
                                 scalar_kernels().from_levels16);
  compare_decoding<std::int32_t>(narrow_queue(), expected, 1 << 20, from_levels32,
                                 scalar_kernels().from_levels32);
}

INSTANTIATE_TEST_SUITE_P(BlocksAndRoundings, DeviceLevels,
                         testing::Values(std::pair(64u, false), std::pair(128u, true),
                                         std::pair(256u, false), std::pair(512u, true),
                                         std::pair(1024u, false), std::pair(2048u, true),
                                         std::pair(4096u, false), std::pair(4096u, true),
                                         std::pair(8192u, true)));

TEST_F(DeviceQuantize, NotFiniteValuesAreSeen) {
  FloatVector update = codec_testing::update(Pattern::normal, 5000, 0);
  update[4999] = std::bit_cast<float>(kInfinityBits);
  const auto x = on_device<float>(update);
  auto words = zeros<std::uint16_t>(5000);
  auto largest = zeros<std::uint32_t>(1);
  ASSERT_TRUE(to_half(queue(), x.data(), 5000, words.data(), largest.data()).ok());
  EXPECT_GE(on_host(queue(), largest)[0], kInfinityBits);
}

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
