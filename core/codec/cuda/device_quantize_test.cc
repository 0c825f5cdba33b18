// Compares the GPU's bytes with those of the scalar specification. Skipped, with the reason,
// without a GPU.
#include "core/codec/cuda/device_quantize.h"

#include <gtest/gtest.h>

#include "core/codec/codec_testing.h"
#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/int8_blocks.h"

namespace tributary::cuda {
namespace {

using codec_testing::kPatterns;
using codec_testing::Pattern;
using quantize::scalar_kernels;

constexpr std::size_t kSizes[] = {0, 1, 3, 4, 5, 63, 64, 65, 4095, 4096, 4097, 70'001, 1'000'003};

class DeviceQuantize : public testing::Test {
 protected:
  void SetUp() override {
    const Status available = device_available();
    if (!available.ok()) GTEST_SKIP() << available.text();
  }
};

template <typename T>
DeviceArray<T> on_device(std::span<const T> host) {
  auto array = DeviceArray<T>::copy_of(host);
  EXPECT_TRUE(array.ok()) << array.status().text();
  return std::move(*array);
}

template <typename T>
RawVector<T> on_host(const DeviceArray<T>& array) {
  RawVector<T> host(array.size());
  const Status status = array.read(host);
  EXPECT_TRUE(status.ok()) << status.text();
  return host;
}

template <typename T>
DeviceArray<T> empty(std::size_t count) {
  return on_device<T>(RawVector<T>(count, T{}));
}

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

using ToDevice = Status (*)(const float*, std::uint32_t, std::uint16_t*, std::uint32_t*, Stream);
using FromDevice = Status (*)(const std::uint16_t*, std::uint32_t, float*, std::uint32_t*, Stream);

void compare_16_bits(ToDevice to, FromDevice from, decltype(quantize::Kernels::to_half) spec_to,
                     decltype(quantize::Kernels::from_half) spec_from) {
  for_each_update([&](const FloatVector& update) {
    const auto n = static_cast<std::uint32_t>(update.size());
    RawVector<std::uint16_t> expected(n);
    const std::uint32_t expected_largest = spec_to(update.data(), n, expected.data());

    const auto x = on_device<float>(update);
    auto words = empty<std::uint16_t>(n);
    auto largest = empty<std::uint32_t>(1);
    ASSERT_TRUE(to(x.data(), n, words.data(), largest.data(), nullptr).ok());
    ASSERT_EQ(on_host(words), expected);
    ASSERT_EQ(on_host(largest)[0], expected_largest);

    FloatVector decoded(n);
    spec_from(expected.data(), n, decoded.data());
    auto back = empty<float>(n);
    ASSERT_TRUE(from(words.data(), n, back.data(), largest.data(), nullptr).ok());
    ASSERT_EQ(codec_testing::bits_of(on_host(back)), codec_testing::bits_of(decoded));
  });
}

TEST_F(DeviceQuantize, HalvesAreTheSpecifications) {
  compare_16_bits(to_half, from_half, scalar_kernels().to_half, scalar_kernels().from_half);
}

TEST_F(DeviceQuantize, BfloatsAreTheSpecifications) {
  compare_16_bits(to_bfloat, from_bfloat, scalar_kernels().to_bfloat, scalar_kernels().from_bfloat);
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
                     public testing::WithParamInterface<std::pair<std::uint32_t, bool>> {};

TEST_P(DeviceLevels, AreTheSpecifications) {
  const LevelFormat format = {
      .block = GetParam().first,
      .random_rounding = GetParam().second,
      .key = stream_key({.job_seed = 5, .purpose = DrawPurpose::rounding, .agent = 2})};
  for_each_update([&](const FloatVector& update) {
    const auto n = static_cast<std::uint32_t>(update.size());
    const Expected expected = specified(update, format);
    const auto x = on_device<float>(update);
    auto scales = empty<float>(expected.scales.size());
    auto levels = empty<std::int8_t>(n);

    ASSERT_TRUE(
        to_scales_and_levels(x.data(), n, format, scales.data(), levels.data(), nullptr).ok());
    ASSERT_EQ(on_host(scales), expected.scales);
    ASSERT_EQ(on_host(levels), expected.levels);

    auto shared_scales = empty<float>(expected.scales.size());
    auto shared_levels = empty<std::int8_t>(n);
    ASSERT_TRUE(find_scales(x.data(), n, format, shared_scales.data(), nullptr).ok());
    ASSERT_TRUE(
        to_levels(x.data(), n, format, shared_scales.data(), shared_levels.data(), nullptr).ok());
    ASSERT_EQ(on_host(shared_levels), expected.levels);

    FloatVector decoded(n);
    quantize::for_each_block(
        {}, {.block = format.block}, n, [&](std::size_t block, std::size_t begin, std::size_t end) {
          const float step = quantize::block_scale(expected.scales[block]).step;
          scalar_kernels().from_levels8(expected.levels.data() + begin, end - begin, step,
                                        decoded.data() + begin);
        });
    auto back = empty<float>(n);
    ASSERT_TRUE(from_levels8(levels.data(), n, format, scales.data(), back.data(), nullptr).ok());
    ASSERT_EQ(codec_testing::bits_of(on_host(back)), codec_testing::bits_of(decoded));
  });
}

INSTANTIATE_TEST_SUITE_P(BlocksAndRoundings, DeviceLevels,
                         testing::Values(std::pair(64u, false), std::pair(4096u, false),
                                         std::pair(65536u, false), std::pair(64u, true),
                                         std::pair(4096u, true)));

TEST_F(DeviceQuantize, NotFiniteValuesAreSeen) {
  FloatVector update = codec_testing::update(Pattern::normal, 5000, 0);
  update[4999] = std::bit_cast<float>(quantize::kInfinityBits);
  const auto x = on_device<float>(update);
  auto words = empty<std::uint16_t>(5000);
  auto largest = empty<std::uint32_t>(1);
  ASSERT_TRUE(to_half(x.data(), 5000, words.data(), largest.data(), nullptr).ok());
  EXPECT_GE(on_host(largest)[0], quantize::kInfinityBits);
}

}  // namespace
}  // namespace tributary::cuda
