// Tests of the loops of THC: the scalar version is the specification, and all targets must give its
// bits.
#include "core/codec/thc/kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/bytes/bytes.h"
#include "core/codec/thc/packing.h"

namespace tributary::thc {
namespace {

constexpr StreamKey kKey = {0x12345678, 0x9abcdef0};

// Normal values for inputs of kernels.
FloatVector normals(std::size_t n, std::uint32_t seed) {
  const NormalStream stream({.bucket = seed, .purpose = DrawPurpose::synthetic_data});
  FloatVector out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(stream.at(static_cast<std::uint32_t>(i)));
  }
  return out;
}

// Random words, with two spare ones that kernels may read.
RawVector<std::uint32_t> words(std::size_t n, std::uint32_t first = 0) {
  RawVector<std::uint32_t> out(n + 2);
  scalar_kernels().draw_words(kKey, first, n + 2, out.data());
  return out;
}

std::shared_ptr<const Levels> levels(const TableRequest& request) {
  const Result<std::shared_ptr<const Levels>> result = levels_for(request);
  EXPECT_TRUE(result.ok()) << result.status().text();
  return *result;
}

// Calls body(kernels) for the specification and for every instruction set that this machine has.
template <typename Body>
void for_every_target(const Body& body) {
  body(scalar_kernels(), "specification");
  const std::int64_t targets = hwy::SupportedTargets();
  for (std::int64_t rest = targets; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    body(simd_kernels(), hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(0);
  }
}

template <typename T>
bool same_bytes(const RawVector<T>& a, const RawVector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// Compares with the definition: entry (row, i) is -1 if row & i has an odd number of bits.
TEST(Kernels, SpreadIsTheSignedHadamardMatrix) {
  for (const std::size_t block : {64u, 128u, 256u, 512u}) {
    const FloatVector x = normals(block, 1);
    const auto signs = words(block / 32);
    for_every_target([&](const Kernels& k, const char* target) {
      FloatVector y(block);
      k.spread(x.data(), block, signs.data(), 0.5f, y.data());
      for (std::size_t row = 0; row < block; ++row) {
        double expected = 0;
        for (std::size_t i = 0; i < block; ++i) {
          const bool flipped = (signs[i / 32] >> (i % 32) & 1u) != 0;
          const bool minus = (std::popcount(row & i) % 2 != 0) != flipped;
          expected += (minus ? -0.5 : 0.5) * static_cast<double>(x[i]);
        }
        ASSERT_NEAR(y[row], expected, 1e-4) << target << ", block " << block << ", row " << row;
      }
    });
  }
}

// The matrix is its own inverse up to a power of two, and small integers do not round.
TEST(Kernels, CollectUndoesSpreadToTheBitOnIntegers) {
  for (std::size_t block = 64; block <= 65536; block *= 2) {
    FloatVector x = normals(block, 2);
    for (float& value : x) value = std::rint(value * 4);
    const auto signs = words(block / 32);
    for_every_target([&](const Kernels& k, const char* target) {
      FloatVector y(block);
      k.spread(x.data(), block, signs.data(), 1.0f, y.data());
      const std::uint32_t largest =
          k.collect(y.data(), block, signs.data(), 1.0f / static_cast<float>(block));
      for (std::size_t i = 0; i < block; ++i) ASSERT_EQ(y[i], x[i]) << target << " " << block;
      float expected = 0;
      for (const float value : x) expected = std::max(expected, std::abs(value));
      EXPECT_EQ(std::bit_cast<float>(largest), expected);
    });
  }
}

TEST(Kernels, AllTargetsGiveTheBitsOfTheSpecification) {
  for (std::size_t block = 64; block <= 65536; block *= 2) {
    const FloatVector x = normals(block, 3);
    const auto signs = words(block / 32);
    const Kernels& s = scalar_kernels();
    FloatVector expected(block);
    s.spread(x.data(), block, signs.data(), 0.37f, expected.data());
    FloatVector expected_back = expected;
    s.collect(expected_back.data(), block, signs.data(), 0.11f);
    FloatVector expected_scaled(block);
    const std::uint32_t expected_scaled_largest =
        s.affine(x.data(), block, 0.21f, 0.37f, expected_scaled.data());
    float expected_low;
    float expected_high;
    s.extent(x.data(), block, &expected_low, &expected_high);
    float expected_sum;
    const std::uint32_t expected_largest = s.sum_squares(x.data(), block, 0.7f, &expected_sum);
    for_every_target([&](const Kernels& k, const char* target) {
      FloatVector y(block);
      k.spread(x.data(), block, signs.data(), 0.37f, y.data());
      EXPECT_TRUE(same_bytes(y, expected)) << target << " " << block;
      k.collect(y.data(), block, signs.data(), 0.11f);
      EXPECT_TRUE(same_bytes(y, expected_back)) << target << " " << block;
      EXPECT_EQ(k.affine(x.data(), block, 0.21f, 0.37f, y.data()), expected_scaled_largest)
          << target;
      EXPECT_TRUE(same_bytes(y, expected_scaled)) << target << " " << block;
      float low;
      float high;
      EXPECT_EQ(k.extent(x.data(), block, &low, &high), expected_largest) << target;
      EXPECT_EQ(low, expected_low) << target;
      EXPECT_EQ(high, expected_high) << target;
      float sum;
      EXPECT_EQ(k.sum_squares(x.data(), block, 0.7f, &sum), expected_largest) << target;
      EXPECT_EQ(sum, expected_sum) << target << " " << block;
    });
  }
}

// A range is a magnitude; its sign bit must not be set.
TEST(Kernels, ExtentOfZerosIsPositiveZero) {
  for_every_target([&](const Kernels& k, const char* target) {
    for (const float zero : {0.0f, -0.0f}) {
      const FloatVector x(64, zero);
      float low = 1;
      float high = 1;
      EXPECT_EQ(k.extent(x.data(), x.size(), &low, &high), 0u);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(low), 0u) << target;
      EXPECT_EQ(std::bit_cast<std::uint32_t>(high), 0u) << target;
    }
  });
}

TEST(Kernels, DrawWordsMayStartAnywhere) {
  for_every_target([&](const Kernels& k, const char* target) {
    for (const std::size_t n : {1u, 3u, 17u, 64u, 100u}) {
      RawVector<std::uint32_t> got(n);
      k.draw_words(kKey, 77, n, got.data());
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(got[i], random_bits(kKey, 77 + static_cast<std::uint32_t>(i))) << target;
      }
    }
  });
}

// Places on and outside the grid, on levels and next to them, and values that no encoder should
// meet.
FloatVector awkward_places(float granularity) {
  FloatVector y = normals(4096, 4);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (i % 3 == 0) y[i] *= granularity;
    if (i % 3 == 1) y[i] = std::rint(y[i] * granularity / 4) + (i % 2 == 0 ? 0.0f : 0.5f);
    if (i % 3 == 2) y[i] *= granularity / 6;
  }
  y[5] = std::numeric_limits<float>::quiet_NaN();
  y[6] = std::numeric_limits<float>::infinity();
  y[7] = -std::numeric_limits<float>::infinity();
  y[8] = -std::numeric_limits<float>::quiet_NaN();
  y[9] = granularity / 2;
  y[10] = -granularity / 2;
  return y;
}

TEST(Kernels, QuantizeAgreesForEveryTable) {
  for (const TableRequest& request :
       {TableRequest{.bits = 1}, TableRequest{.bits = 2}, TableRequest{.bits = 3, .agents = 5},
        TableRequest{.bits = 4, .agents = 4}, TableRequest{.bits = 4, .agents = 10},
        // 127 and 128 are next to the limit of look-ups in registers.
        TableRequest{.bits = 4, .granularity = 127, .p = 0.01},
        TableRequest{.bits = 4, .granularity = 128, .p = 0.01},
        TableRequest{.bits = 4, .granularity = 1023, .p = 0.01}, TableRequest{.bits = 5},
        TableRequest{.bits = 8, .granularity = 300, .p = 0.001},
        TableRequest{.bits = 4, .uniform = true}, TableRequest{.bits = 8, .uniform = true}}) {
    const auto table = levels(request);
    const FloatVector y = awkward_places(static_cast<float>(table->granularity));
    const Rounding rounding = {.key = kKey, .flip = 0xffff, .shift = 12345};
    Bytes expected(y.size());
    scalar_kernels().quantize(y.data(), y.size(), *table, rounding, 640, expected.data());
    for_every_target([&](const Kernels& k, const char* target) {
      Bytes got(y.size());
      k.quantize(y.data(), y.size(), *table, rounding, 640, got.data());
      EXPECT_TRUE(same_bytes(got, expected))
          << target << ", " << request.bits << " bits, g " << table->granularity;
    });
  }
}

// Values on a level must stay there. All others must be unbiased within 4 standard errors.
TEST(Kernels, QuantizeKeepsLevelsAndHitsPlacesOnAverage) {
  const auto table = levels({.bits = 4, .agents = 4});
  const auto half = static_cast<float>(table->granularity) / 2;
  FloatVector y(6400);
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = static_cast<float>(i % 64) * static_cast<float>(table->granularity) / 64 - half;
  }
  FloatVector levels_themselves(64);
  for (std::size_t i = 0; i < 64; ++i) levels_themselves[i] = table->places[i % 16] - half;
  std::vector<double> mean(64, 0.0);
  std::vector<double> variance(64, 0.0);
  constexpr std::uint32_t kRounds = 200;
  Bytes out(y.size());
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const Rounding rounding = {.key =
                                   stream_key({.round = round, .purpose = DrawPurpose::rounding})};
    simd_kernels().quantize(y.data(), y.size(), *table, rounding, 0, out.data());
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double error = table->places[out[i]] - static_cast<double>(y[i] + half);
      mean[i % 64] += error;
      variance[i % 64] += error * error;
    }
    simd_kernels().quantize(levels_themselves.data(), 64, *table, rounding, 0, out.data());
    for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(out[i], i % 16) << "a level moved";
  }
  const double samples = kRounds * static_cast<double>(y.size()) / 64;
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_LE(std::abs(mean[i] / samples), 4 * std::sqrt(variance[i]) / samples + 1e-9) << i;
  }
}

TEST(Kernels, LookUpsAddAndCentresAgree) {
  for (const TableRequest& request :
       {TableRequest{.bits = 1}, TableRequest{.bits = 4, .agents = 4}, TableRequest{.bits = 6},
        // 255 and 256 are next to the limit of places in bytes.
        TableRequest{.bits = 4, .granularity = 255, .p = 0.01},
        TableRequest{.bits = 4, .granularity = 256, .p = 0.01},
        TableRequest{.bits = 8, .granularity = 255, .p = 0.01}}) {
    const auto table = levels(request);
    constexpr std::size_t kN = 4096;
    Bytes level(kN);
    const auto draws = words(kN);
    for (std::size_t i = 0; i < kN; ++i) {
      level[i] = static_cast<std::uint8_t>(draws[i] % levels_of(request.bits));
    }
    for_every_target([&](const Kernels& k, const char* target) {
      Bytes sum8(kN, std::uint8_t{0});
      RawVector<std::uint16_t> sum16(kN, std::uint16_t{1000});
      RawVector<std::uint32_t> sum32(kN, 100'000u);
      FloatVector y(kN);
      if (table->granularity <= 255) k.look_up_add8(level.data(), kN, *table, sum8.data());
      k.look_up_add16(level.data(), kN, *table, sum16.data());
      k.look_up_add32(level.data(), kN, *table, sum32.data());
      for (std::size_t i = 0; i < kN; ++i) {
        const std::uint32_t place = table->places[level[i]];
        ASSERT_EQ(sum8[i], table->granularity <= 255 ? place : 0) << target;
        ASSERT_EQ(sum16[i], 1000 + place) << target;
        ASSERT_EQ(sum32[i], 100'000 + place) << target;
      }
      k.centre_levels(level.data(), kN, *table, y.data());
      for (std::size_t i = 0; i < kN; ++i) {
        const auto place = static_cast<float>(table->places[level[i]]);
        ASSERT_EQ(y[i], 2.0f * place - static_cast<float>(table->granularity)) << target;
      }
      EXPECT_EQ(k.centre8(sum8.data(), kN, 77, y.data()), std::ranges::max(sum8)) << target;
      for (std::size_t i = 0; i < kN; ++i) ASSERT_EQ(y[i], 2.0f * sum8[i] - 77) << target;
      EXPECT_EQ(k.centre16(sum16.data(), kN, 1077, y.data()), std::ranges::max(sum16)) << target;
      for (std::size_t i = 0; i < kN; ++i) ASSERT_EQ(y[i], 2.0f * sum16[i] - 1077) << target;
      EXPECT_EQ(k.centre32(sum32.data(), kN, 99'000, y.data()), std::ranges::max(sum32)) << target;
      for (std::size_t i = 0; i < kN; ++i) {
        ASSERT_EQ(y[i], 2.0f * static_cast<float>(sum32[i]) - 99'000) << target;
      }
    });
  }
}

// For every shared draw, each interval of the circle contains the draw of one agent.
TEST(CorrelatedRounding, PutsOneDrawIntoEveryShare) {
  for (const std::uint32_t agents : {1u, 2u, 3u, 4u, 8u, 16u}) {
    for (std::uint32_t element = 0; element < 1000; ++element) {
      std::vector<bool> taken(agents, false);
      const std::uint32_t anchor =
          rounding_draw(correlated_rounding(kKey, 0, agents), element) * agents % 65536;
      for (std::uint32_t agent = 0; agent < agents; ++agent) {
        const std::uint32_t draw = rounding_draw(correlated_rounding(kKey, agent, agents), element);
        if (agents % 2 != 0) {  // evenly spaced on the circle
          const auto distance = static_cast<std::int16_t>(draw * agents - anchor);
          EXPECT_LE(std::abs(distance), static_cast<int>(agents));
        } else {
          const std::uint32_t share = draw * agents / 65536;
          EXPECT_FALSE(taken[share]) << agents << " agents";
          taken[share] = true;
        }
      }
    }
  }
}

// The constant sum makes the rounding errors of a common value cancel.
TEST(CorrelatedRounding, HasAConstantSumForAnEvenNumber) {
  for (const std::uint32_t agents : {2u, 4u, 8u, 16u}) {
    for (std::uint32_t element = 0; element < 100; ++element) {
      std::uint32_t sum = 0;
      for (std::uint32_t agent = 0; agent < agents; ++agent) {
        sum += rounding_draw(correlated_rounding(kKey, agent, agents), element);
      }
      EXPECT_EQ(sum, agents * 65535 / 2) << agents;
    }
  }
}

TEST(Packing, PutsTheFirstFieldInTheLowBits) {
  Bytes fields(64, std::uint8_t{0});
  fields[0] = 0x3;
  fields[1] = 0xa;
  for_every_target([&](const Kernels& k, const char* target) {
    Bytes packed(32);
    k.pack8(fields.data(), 64, 4, packed.data());
    EXPECT_EQ(packed[0], 0xa3) << target;
  });
  Bytes packed(24);
  fields[1] = 0x5;
  pack_fields(fields.data(), 64, 3, packed.data());
  EXPECT_EQ(packed[0], 0x3 | 0x5 << 3);
}

// Random fields of `bits` bits.
template <typename Field>
RawVector<Field> random_fields(std::size_t n, unsigned bits) {
  RawVector<Field> fields(n);
  const auto draws = words(n, bits);
  for (std::size_t i = 0; i < n; ++i) fields[i] = static_cast<Field>(draws[i] >> (32 - bits));
  return fields;
}

// Calls check(bits, n) for every width of a field and several numbers of groups. Vectors take one
// to four groups at a time, and the last ones may need care at the array's end.
template <typename Field, typename Check>
void for_every_width(const Check& check) {
  for (unsigned bits = 1; bits <= 8 * sizeof(Field); ++bits) {
    for (const std::size_t n : {64u, 128u, 256u, 640u}) check(bits, n);
  }
}

template <typename Field>
void expect_round_trips() {
  for_every_width<Field>([](unsigned bits, std::size_t n) {
    RawVector<Field> fields = random_fields<Field>(n, bits);
    Bytes packed(n / 8 * bits);
    pack_fields(fields.data(), n, bits, packed.data());
    RawVector<Field> back(n);
    unpack_fields(packed.data(), n, bits, back.data());
    EXPECT_TRUE(same_bytes(back, fields)) << bits << " bits";
    // In place, as an aggregator packs.
    pack_fields(fields.data(), n, bits, reinterpret_cast<std::uint8_t*>(fields.data()));
    EXPECT_EQ(std::memcmp(fields.data(), packed.data(), packed.size()), 0) << bits << " bits";
  });
}

TEST(Packing, ReadsBackEveryWidth) {
  expect_round_trips<std::uint8_t>();
  expect_round_trips<std::uint16_t>();
  expect_round_trips<std::uint32_t>();
}

// The guard behind the packed bytes shows that nothing is written there.
TEST(Packing, EveryTargetPacksLikeTheSpecification) {
  constexpr std::size_t kGuard = 64;
  for_every_width<std::uint8_t>([](unsigned bits, std::size_t n) {
    const Bytes fields = random_fields<std::uint8_t>(n, bits);
    Bytes expected(n / 8 * bits + kGuard, std::uint8_t{0xee});
    pack_fields(fields.data(), n, bits, expected.data());
    for_every_target([&](const Kernels& k, const char* target) {
      Bytes packed(expected.size(), std::uint8_t{0xee});
      k.pack8(fields.data(), n, bits, packed.data());
      EXPECT_TRUE(same_bytes(packed, expected)) << target << ", " << bits << " bits, " << n;
      Bytes in_place = fields;
      k.pack8(in_place.data(), n, bits, in_place.data());
      EXPECT_EQ(std::memcmp(in_place.data(), expected.data(), n / 8 * bits), 0)
          << target << ", " << bits << " bits in place, " << n;
    });
  });
}

template <typename Field, typename Unpack>
void expect_all_targets_unpack(const Unpack& unpack) {
  for_every_width<Field>([&](unsigned bits, std::size_t n) {
    const RawVector<Field> fields = random_fields<Field>(n, bits);
    Bytes packed(n / 8 * bits);  // without spare bytes, so that a sanitizer finds reads behind it
    pack_fields(fields.data(), n, bits, packed.data());
    for_every_target([&](const Kernels& k, const char* target) {
      RawVector<Field> back(n);
      unpack(k)(packed.data(), n, bits, back.data());
      EXPECT_TRUE(same_bytes(back, fields)) << target << ", " << bits << " bits, " << n;
    });
  });
}

TEST(Packing, EveryTargetUnpacksWhatWasPacked) {
  expect_all_targets_unpack<std::uint8_t>([](const Kernels& k) { return k.unpack8; });
  expect_all_targets_unpack<std::uint16_t>([](const Kernels& k) { return k.unpack16; });
  expect_all_targets_unpack<std::uint32_t>([](const Kernels& k) { return k.unpack32; });
}

// Scales whose squares would overflow or underflow float32 without norm_scale().
TEST(Rms, HoldsAtEveryScale) {
  for (const float scale : {0x1p-98f, 0x1p-50f, 1.0f, 0x1p39f, 0x1p41f, 0x1p100f, 0x1p124f}) {
    FloatVector x = normals(4096, 5);
    double squares = 0;
    for (float& value : x) {
      squares += static_cast<double>(value) * static_cast<double>(value);
      value *= scale;
    }
    float sum;
    std::uint32_t largest = simd_kernels().sum_squares(x.data(), x.size(), 1.0f, &sum);
    const float used = norm_scale(largest);
    simd_kernels().sum_squares(x.data(), x.size(), used, &sum);
    const double expected = std::sqrt(squares / 4096) * static_cast<double>(scale);
    EXPECT_NEAR(static_cast<double>(rms_of(sum, 4096, used)) / expected, 1, 1e-5) << scale;
  }
  const FloatVector largest_floats(64, std::numeric_limits<float>::max());
  float sum;
  const float scale = norm_scale(0x7f7fffff);
  scalar_kernels().sum_squares(largest_floats.data(), 64, scale, &sum);
  EXPECT_TRUE(std::isfinite(rms_of(sum, 64, scale)));
}

}  // namespace
}  // namespace tributary::thc
