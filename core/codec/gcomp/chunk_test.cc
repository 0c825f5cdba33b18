// Tests of one chunk of GComp: the scalar and the SIMD version give the same bytes, and damaged
// chunks are refused without reading beyond them.
#include "core/codec/gcomp/chunk.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/bytes/damaged_testing.h"
#include "core/codec/codec_testing.h"
#include "core/codec/gcomp/one_value.h"

namespace tributary::gcomp {
namespace {

using codec_testing::kPatterns;
using codec_testing::Pattern;
using codec_testing::update;

constexpr std::size_t kSizes[] = {1, 63, 64, 65, 127, 128, 129, 1000, 4096, 20'001};

// The values of a pattern, with a parameter and moments for each of them.
struct Data {
  Data(Pattern pattern, std::size_t n)
      : values(update(pattern, n, 0)),
        parameters(update(Pattern::normal, n, 1)),
        first(update(Pattern::normal, n, 2)),
        second(update(Pattern::lognormal, n, 3)) {
    for (std::size_t i = 0; i < n; ++i) {
      second[i] = std::abs(second[i]);
      // Values that must not be truncated: a zero parameter, an infinity, a NaN. Zeros are pruned.
      if (i % 7 == 0) parameters[i] = 0;
      if (i % 50 == 3) values[i] = std::numeric_limits<float>::infinity();
      if (i % 50 == 4) values[i] = std::bit_cast<float>(0xff800001u);
      if (i % 5 == 1) values[i] = 0;
    }
  }

  FloatVector values, parameters, first, second;
};

// One rule for each formula and each fixed level.
struct Rules {
  static LevelRule fixed(unsigned level) { return {.level = level}; }
  static LevelRule of(const Data& data, OptimizerKind kind) {
    const OptimizerView view = {.kind = kind,
                                .learning_rate = 1e-4f,
                                .weight_decay = 0.01f,
                                .momentum = 0.9f,
                                .alpha = 0.99f,
                                .beta1 = 0.9f,
                                .beta2 = 0.999f,
                                .epsilon = 1e-8f,
                                .step = 12};
    const MetricCoefficients metric = metric_coefficients(view, 1);
    return {.kind = metric.adaptive ? LevelRule::Kind::adaptive : LevelRule::Kind::linear,
            .metric = metric,
            .parameters = data.parameters.data(),
            .first = data.first.data(),
            .second = data.second.data()};
  }
  static std::vector<LevelRule> all(const Data& data) {
    return {fixed(0),
            fixed(1),
            fixed(2),
            fixed(3),
            of(data, OptimizerKind::sgd),
            of(data, OptimizerKind::nesterov),
            of(data, OptimizerKind::rmsprop),
            of(data, OptimizerKind::adamw)};
  }
};

// The best codebook for the values.
Codebook codebook_of(std::span<const float> values) {
  Histogram histogram = {};
  for (const float x : values) ++histogram[exponent_of(std::bit_cast<std::uint32_t>(x))];
  return make_codebook(histogram, 8, 0);
}

// A chunk as it lies in a payload, without bytes after it.
Bytes encoded(const Kernels& loops, const Codebook* book, const LevelRule& rule, bool exact,
              std::span<const float> values) {
  Bytes chunk(chunk_bytes_max(values.size()));
  const ChunkStatistics statistics = encode_chunk(loops, book, rule, exact, values, chunk.data());
  EXPECT_LE(statistics.bytes, chunk.size());
  EXPECT_EQ(statistics.bytes % 4, 0u);
  return {chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(statistics.bytes)};
}

const char* decode(const Kernels& loops, const Codebook* book, const Bytes& chunk,
                   FloatVector& values) {
  return decode_chunk(loops, book, chunk, chunk.size(), values);
}

// The bits to which a value must decode.
std::uint32_t kept_bits(const LevelRule& rule, bool exact, std::size_t i, float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (exponent_of(bits) == 0 && !exact) return 0;
  const unsigned cut = truncated_bits(choose_level(rule, i, value));
  return bits >> cut << cut;
}

TEST(Chunk, DecodesToTheBitsOfItsLevels) {
  for (const Pattern pattern : kPatterns) {
    const Data data(pattern, 3000);
    const Codebook book = codebook_of(data.values);
    for (const LevelRule& rule : Rules::all(data)) {
      for (const bool exact : {false, true}) {
        const Bytes chunk = encoded(simd_kernels(), &book, rule, exact, data.values);
        FloatVector out(data.values.size());
        const char* const fault = decode(simd_kernels(), &book, chunk, out);
        ASSERT_EQ(fault, nullptr) << fault;
        for (std::size_t i = 0; i < out.size(); ++i) {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), kept_bits(rule, exact, i, data.values[i]))
              << "value " << i << ", pattern " << static_cast<int>(pattern);
        }
      }
    }
  }
}

TEST(Chunk, ScalarAndSimdGiveTheSameBytes) {
  for (const Pattern pattern : {Pattern::normal, Pattern::spike, Pattern::extremes}) {
    for (const std::size_t size : kSizes) {
      const Data data(pattern, size);
      const Codebook own = codebook_of(data.values);
      // A codebook without the chunk's exponents, so that all are escaped.
      const Codebook other = codebook_of(update(Pattern::tiny, size, 0));
      for (const Codebook* book : {static_cast<const Codebook*>(nullptr), &own, &other}) {
        for (const LevelRule& rule : Rules::all(data)) {
          const Bytes expected = encoded(scalar_kernels(), book, rule, true, data.values);
          FloatVector values(size);
          ASSERT_EQ(decode(scalar_kernels(), book, expected, values), nullptr);
          for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
            hwy::SetSupportedTargetsForTest(rest & -rest);
            const Kernels& loops = simd_kernels();
            hwy::SetSupportedTargetsForTest(0);
            ASSERT_EQ(encoded(loops, book, rule, true, data.values), expected)
                << hwy::TargetName(rest & -rest) << ", " << size;
            FloatVector again(size);
            ASSERT_EQ(decode(loops, book, expected, again), nullptr);
            ASSERT_EQ(codec_testing::bits_of(again), codec_testing::bits_of(values));
          }
        }
      }
    }
  }
}

// The maximum size reaches the ends of all buffers.
TEST(Chunk, ScalarAndSimdGiveTheSameBytesOfAWholeChunk) {
  const Data data(Pattern::lognormal, kChunkValues);
  const Codebook book = codebook_of(data.values);
  const LevelRule rule = Rules::of(data, OptimizerKind::adam);
  const Bytes expected = encoded(scalar_kernels(), &book, rule, false, data.values);
  EXPECT_EQ(encoded(simd_kernels(), &book, rule, false, data.values), expected);
  FloatVector scalar(kChunkValues);
  FloatVector simd(kChunkValues);
  ASSERT_EQ(decode(scalar_kernels(), &book, expected, scalar), nullptr);
  ASSERT_EQ(decode(simd_kernels(), &book, expected, simd), nullptr);
  EXPECT_EQ(codec_testing::bits_of(simd), codec_testing::bits_of(scalar));
}

TEST(Chunk, ACodebookThatDoesNotFitCostsNoMoreThanRawExponents) {
  const FloatVector values = update(Pattern::normal, kChunkValues, 0);
  const Codebook other = codebook_of(update(Pattern::tiny, kChunkValues, 0));
  Bytes out(chunk_bytes_max(kChunkValues));
  const ChunkStatistics with = encode_chunk(simd_kernels(), &other, {}, false, values, out.data());
  const ChunkStatistics without =
      encode_chunk(simd_kernels(), nullptr, {}, false, values, out.data());
  EXPECT_EQ(with.bytes, without.bytes);
  EXPECT_TRUE(with.misfit);
}

TEST(Chunk, SpendsTheCodebooksBitsAndLittleMore) {
  const FloatVector values = update(Pattern::normal, kChunkValues, 0);
  const Codebook book = codebook_of(values);
  std::size_t exponent_bits = 0;
  for (const float x : values) {
    const unsigned bits = book.bits[exponent_of(std::bit_cast<std::uint32_t>(x))];
    exponent_bits += bits != 0 ? bits : book.bits[kEscape] + 8u;
  }
  const Bytes chunk = encoded(simd_kernels(), &book, {}, false, values);
  const std::size_t exponents = exponent_bits / 8;
  // 24 bits per fraction, the exponents, the states of the streams, the chunk's header and its
  // padding.
  EXPECT_LE(chunk.size(), 3 * values.size() + exponents + 2 * kStreams + 16);
}

TEST(Chunk, ZerosCostTheirExponentAlone) {
  FloatVector values = update(Pattern::normal, kChunkValues, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 4 != 0) values[i] = 0;
  }
  const Codebook book = codebook_of(values);
  const Bytes chunk = encoded(simd_kernels(), &book, {}, true, values);
  EXPECT_LE(chunk.size() * 8, values.size() * 8);  // 6 bits of fractions, less than 2 of exponents
}

class HostileChunk : public testing::Test {
 protected:
  static constexpr std::size_t kValues = 1500;
  HostileChunk()
      : data(Pattern::normal, kValues),
        book(codebook_of(update(Pattern::normal, kValues, 0))),
        chunk(encoded(scalar_kernels(), &book, Rules::of(data, OptimizerKind::adamw), true,
                      data.values)) {}

  // Both versions must return the same result, without reading beyond the chunk.
  void receive(const Bytes& bytes, const Codebook& codes) {
    const Bytes tight(bytes.begin(), bytes.end());
    FloatVector scalar(kValues);
    FloatVector simd(kValues);
    const char* const fault = decode(scalar_kernels(), &codes, tight, scalar);
    const char* const simd_fault = decode(simd_kernels(), &codes, tight, simd);
    ASSERT_EQ(fault == nullptr, simd_fault == nullptr) << (fault != nullptr ? fault : simd_fault);
    if (fault == nullptr) {
      ASSERT_EQ(codec_testing::bits_of(scalar), codec_testing::bits_of(simd));
    }
  }

  Data data;
  Codebook book;
  Bytes chunk;
};

// Checks that the test data reaches every part of the format.
TEST_F(HostileChunk, HasCodesEscapesAndAllLevels) {
  Scratch& scratch = thread_scratch();
  EXPECT_GT(scratch.coded.byte_count, 0u);
  EXPECT_GT(scratch.coded.escape_count, 0u);
  for (unsigned level = 0; level < 3; ++level) EXPECT_GT(scratch.parts.counts[level], 0u) << level;
}

TEST_F(HostileChunk, EveryBitFlipped) {
  for_each_flipped_bit(chunk, [&](const Bytes& bytes) { receive(bytes, book); });
}

TEST_F(HostileChunk, CutAndStretched) {
  for_each_cut(chunk, [&](const Bytes& bytes) {
    FloatVector out(kValues);
    EXPECT_NE(decode(simd_kernels(), &book, bytes, out), nullptr) << bytes.size();
    receive(bytes, book);
  });
  Bytes longer = chunk;
  longer.resize(chunk.size() + 4);
  FloatVector out(kValues);
  EXPECT_NE(decode(simd_kernels(), &book, longer, out), nullptr);
}

// The header's two counts: bytes of coded exponents, and escaped exponents.
TEST_F(HostileChunk, SizesThatLie) {
  for (const std::uint32_t lie : {0u, 1u, 0x7fffffffu, 0xffffffffu, 65'536u, 65'537u}) {
    for (const std::size_t field : {std::size_t{0}, std::size_t{4}}) {
      Bytes bytes = chunk;
      std::memcpy(bytes.data() + field, &lie, sizeof(lie));
      FloatVector out(kValues);
      EXPECT_NE(decode(simd_kernels(), &book, bytes, out), nullptr) << lie;
      receive(bytes, book);
    }
  }
}

// A wrong codebook may decode to wrong values, but both versions must agree.
TEST_F(HostileChunk, ReadWithAnotherCodebook) {
  receive(chunk, codebook_of(update(Pattern::huge, kValues, 0)));
  receive(chunk, codebook_of(update(Pattern::zeros, kValues, 0)));
}

}  // namespace
}  // namespace tributary::gcomp
