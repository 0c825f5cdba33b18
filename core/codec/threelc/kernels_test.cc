// Compares the loops of the scalar version and of every instruction set that this machine has.
#include "core/codec/threelc/kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec_testing.h"
#include "core/codec/threelc/elements.h"
#include "core/codec/threelc/zero_run.h"

namespace tributary::threelc {
namespace {

using codec_testing::Pattern;
using Coded = std::vector<std::uint8_t>;

// Calls test(kernels) for the specification and for every SIMD version.
template <typename Test>
void with_all_kernels(const Test& test) {
  {
    SCOPED_TRACE("scalar");
    test(scalar_kernels());
  }
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    test(simd_kernels());
    hwy::SetSupportedTargetsForTest(0);
  }
}

Coded encoded(const Kernels& loops, const Coded& bytes) {
  Coded out(bytes.size());  // exact size, so that the address sanitizer detects writes past the end
  out.resize(loops.zero_run_encode(bytes.data(), bytes.size(), out.data()));
  return out;
}

Coded decoded(const Kernels& loops, const Coded& coded) {
  const std::size_t size = loops.zero_run_decoded_bytes(coded.data(), coded.size());
  Coded out(size + kDecodeSlackBytes);
  loops.zero_run_decode(coded.data(), coded.size(), out.data());
  out.resize(size);
  return out;
}

TEST(ZeroRun, LengthsAtTheEdges) {
  const std::pair<std::size_t, Coded> cases[] = {
      {0, {}},          {1, {121}},       {2, {243}},       {13, {254}},      {14, {255}},
      {15, {255, 121}}, {16, {255, 243}}, {27, {255, 254}}, {28, {255, 255}}, {29, {255, 255, 121}},
  };
  with_all_kernels([&](const Kernels& loops) {
    for (const auto& [length, coded] : cases) {
      const Coded run(length, 121);
      EXPECT_EQ(encoded(loops, run), coded) << length;
      EXPECT_EQ(decoded(loops, coded), run) << length;
      // The same run between other bytes, and across the boundaries of 64-byte words.
      for (const std::size_t before : {1u, 40u, 63u, 64u, 65u, 128u}) {
        Coded bytes(before, 7);
        bytes.insert(bytes.end(), length, 121);
        bytes.push_back(0);
        bytes.resize(bytes.size() + 70, 242);
        Coded expected(before, 7);
        expected.insert(expected.end(), coded.begin(), coded.end());
        expected.push_back(0);
        expected.resize(expected.size() + 70, 242);
        EXPECT_EQ(encoded(loops, bytes), expected) << length << " behind " << before;
        EXPECT_EQ(decoded(loops, expected), bytes) << length << " behind " << before;
      }
    }
  });
}

// Densities of zero bytes from none to all.
TEST(ZeroRun, DecodingRestoresAnyInput) {
  const StreamKey key = stream_key({.purpose = DrawPurpose::synthetic_data});
  for (const std::uint32_t zeros_of_256 : {0u, 10u, 128u, 240u, 255u, 256u}) {
    for (const std::size_t size : {1u, 63u, 64u, 65u, 500u, 4096u, 5001u}) {
      Coded bytes(size);
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t bits = random_bits(key, static_cast<std::uint32_t>(i));
        bytes[i] = static_cast<std::uint8_t>((bits & 255) < zeros_of_256 ? 121 : bits >> 8 & 127);
      }
      const Coded expected = encoded(scalar_kernels(), bytes);
      with_all_kernels([&](const Kernels& loops) {
        EXPECT_EQ(encoded(loops, bytes), expected);
        EXPECT_EQ(decoded(loops, expected), bytes);
      });
    }
  }
}

// Untrusted bytes may contain adjacent runs. The decoder must write what the count promises.
TEST(ZeroRun, BytesThatNoEncoderWritesAreStillCounted) {
  Coded every;
  for (int round = 0; round < 3; ++round) {
    for (int byte = 0; byte < 256; ++byte) every.push_back(static_cast<std::uint8_t>(byte));
  }
  const Coded expected = decoded(scalar_kernels(), every);
  EXPECT_EQ(expected.size(), 3u * (243 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14));
  with_all_kernels([&](const Kernels& loops) { EXPECT_EQ(decoded(loops, every), expected); });
}

TEST(TwoBits, ThreeIsNoDigit) {
  with_all_kernels([](const Kernels& loops) {
    for (const std::size_t size : {1u, 16u, 63u, 64u, 65u, 200u}) {
      Coded bytes(size, 0b10'01'00'10);
      EXPECT_TRUE(loops.two_bit_valid(bytes.data(), size));
      for (const std::size_t bad : {std::size_t{0}, size / 2, size - 1}) {
        for (const int shift : {0, 2, 4, 6}) {
          bytes.assign(size, 0b10'10'10'10);
          bytes[bad] = static_cast<std::uint8_t>(bytes[bad] | 3 << shift);
          EXPECT_FALSE(loops.two_bit_valid(bytes.data(), size)) << bad << " of " << size;
        }
      }
    }
  });
}

// Ranges that begin and end within a part, with values at any alignment.
class Ranges : public testing::TestWithParam<Pattern> {
 protected:
  template <typename Test>
  void for_every_range(const Test& test) {
    for (const std::size_t count : {1u, 6u, 79u, 80u, 321u, 1000u, 2049u}) {
      const FloatVector x = codec_testing::update(GetParam(), count + 1, 0);
      const std::size_t bytes = Quartic::bytes(count);
      for (const PackedRange& range :
           {PackedRange{count, 0, bytes}, PackedRange{count, bytes / 3, bytes},
            PackedRange{count, bytes / 4, bytes / 2}}) {
        test(x.data() + 1, range);
      }
    }
  }
};

TEST_P(Ranges, NearestDigits) {
  for_every_range([](const float* x, const PackedRange& range) {
    const std::uint32_t largest = scalar_kernels().largest_magnitude(x, range.count);
    const double squares = scalar_kernels().sum_of_squares(x, range.count);
    const float level = nearest_level(unit_of(std::bit_cast<float>(largest), 1.25f));
    Coded expected(range.end - range.begin);
    scalar_kernels().pack_nearest(x, range, level, expected.data());
    with_all_kernels([&](const Kernels& loops) {
      EXPECT_EQ(loops.largest_magnitude(x, range.count), largest);
      EXPECT_EQ(loops.sum_of_squares(x, range.count), squares);
      Coded got(expected.size());
      loops.pack_nearest(x, range, level, got.data());
      EXPECT_EQ(got, expected);
    });
  });
}

TEST_P(Ranges, RandomDigitsThereAndBack) {
  const StreamKey key = stream_key({.purpose = DrawPurpose::rounding});
  const auto round_trip = [&](const float* x, const PackedRange& range,
                              PackingKernels Kernels::*packing) {
    const PackingKernels& spec = scalar_kernels().*packing;
    const float unit =
        std::bit_cast<float>(scalar_kernels().largest_magnitude(x, range.count)) * 0.5f;
    Coded expected(range.end - range.begin);
    spec.pack_random(x, range, unit, key, 77, expected.data());
    FloatVector values(range.count, -0.0f);
    FloatVector sum(range.count, -0.0f);
    spec.unpack(expected.data(), range, unit, values.data());
    spec.unpack_add(expected.data(), range, unit, sum.data());
    with_all_kernels([&](const Kernels& loops) {
      Coded got(expected.size());
      (loops.*packing).pack_random(x, range, unit, key, 77, got.data());
      EXPECT_EQ(got, expected);
      FloatVector out(range.count, -0.0f);
      (loops.*packing).unpack(expected.data(), range, unit, out.data());
      EXPECT_EQ(codec_testing::bits_of(out), codec_testing::bits_of(values));
      out.assign(range.count, -0.0f);
      (loops.*packing).unpack_add(expected.data(), range, unit, out.data());
      EXPECT_EQ(codec_testing::bits_of(out), codec_testing::bits_of(sum));
    });
  };
  for_every_range([&](const float* x, const PackedRange& range) {
    round_trip(x, range, &Kernels::quartic);
    if (range.end <= TwoBit::bytes(range.count)) round_trip(x, range, &Kernels::two_bit);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Ranges, testing::ValuesIn(codec_testing::kPatterns));

}  // namespace
}  // namespace tributary::threelc
