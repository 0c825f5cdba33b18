// Tests of the Huffman codes of exponents. Lengths are compared with an exhaustive search, and
// damaged codebooks are refused.
#include "core/codec/gcomp/codebook.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/random.h"

namespace tributary::gcomp {
namespace {

// Bits that a codebook spends on exponents of this histogram.
std::uint64_t coded_bits(const Codebook& book, const Histogram& histogram) {
  std::uint64_t bits = 0;
  for (unsigned e = 0; e < kExponents; ++e) {
    bits += histogram[e] * (book.bits[e] != 0 ? book.bits[e] : book.bits[kEscape] + 8u);
  }
  return bits;
}

constexpr StreamKey kKey = {.a = 0x5bd1e995u, .b = 0x27d4eb2fu};

// The cost of the cheapest lengths that satisfy Kraft's inequality with equality, by exhaustive
// search.
std::uint64_t cheapest(std::span<const std::uint64_t> weights, unsigned bits_max) {
  std::uint64_t best = ~std::uint64_t{0};
  const std::function<void(std::size_t, unsigned, std::uint64_t)> place =
      [&](std::size_t i, unsigned left, std::uint64_t cost) {
        if (cost >= best) return;
        if (i == weights.size()) {
          if (left == 0) best = cost;
          return;
        }
        for (unsigned bits = 1; bits <= bits_max; ++bits) {
          const unsigned share = 1u << (bits_max - bits);
          if (share <= left) place(i + 1, left - share, cost + weights[i] * bits);
        }
      };
  place(0, 1u << bits_max, 0);
  return best;
}

// The cost of the cheapest code of a histogram, where any set of exponents may be escaped.
std::uint64_t cheapest_codebook(const std::vector<std::uint64_t>& counts, unsigned bits_max) {
  std::uint64_t best = ~std::uint64_t{0};
  for (unsigned escaped = 0; escaped < 1u << counts.size(); ++escaped) {
    std::vector<std::uint64_t> weights = {0};
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if ((escaped >> i & 1u) != 0) {
        rest += counts[i];
      } else {
        weights.push_back(counts[i]);
      }
    }
    if (weights.size() < 2 || weights.size() > 1u << bits_max) continue;
    weights[0] = rest;
    best = std::min(best, cheapest(weights, bits_max) + 8 * rest);
  }
  return best;
}

// Spreads the counts over exponents that are not adjacent.
Histogram histogram_of(const std::vector<std::uint64_t>& counts) {
  Histogram histogram = {};
  for (std::size_t i = 0; i < counts.size(); ++i) histogram[100 + 3 * i] = counts[i];
  return histogram;
}

// The used share of all codes in units of 1/256; a complete code uses 256.
unsigned kraft(const Codebook& book) {
  unsigned used = 0;
  for (const unsigned bits : book.bits) used += bits == 0 ? 0 : 256u >> bits;
  return used;
}

TEST(PackageMerge, EqualsTheBestOfAllLengths) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const std::size_t symbols = 2 + random_bits(kKey, seed) % 6;
    std::vector<std::uint64_t> weights;
    for (std::uint32_t i = 0; i < symbols; ++i) {
      const std::uint32_t draw = random_bits(kKey, 1000 + seed * 16 + i);
      // Weights of very different size, so that the limit of the length matters.
      weights.push_back((draw >> 8) % (1u << (1 + draw % 12)) + 1);
    }
    std::ranges::sort(weights);
    for (unsigned bits_max = 3; bits_max <= 5; ++bits_max) {
      const std::vector<std::uint8_t> lengths = limited_lengths(weights, bits_max);
      std::uint64_t cost = 0;
      unsigned used = 0;
      for (std::size_t i = 0; i < symbols; ++i) {
        ASSERT_GE(lengths[i], 1);
        ASSERT_LE(lengths[i], bits_max);
        cost += weights[i] * lengths[i];
        used += 1u << (bits_max - lengths[i]);
      }
      ASSERT_EQ(used, 1u << bits_max);
      ASSERT_EQ(cost, cheapest(weights, bits_max)) << "seed " << seed << ", " << bits_max;
    }
  }
}

// Without an effective limit these are Huffman's own lengths.
TEST(PackageMerge, GivesTheKnownLengthsOfFibonacciWeights) {
  const std::uint64_t weights[] = {1, 1, 2, 3, 5, 8};
  EXPECT_EQ(limited_lengths(weights, 8), (std::vector<std::uint8_t>{5, 5, 4, 3, 2, 1}));
  EXPECT_EQ(limited_lengths(weights, 3), (std::vector<std::uint8_t>{3, 3, 3, 3, 2, 2}));
}

TEST(Codebook, EscapesTheCheapestSymbols) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const std::size_t symbols = 1 + random_bits(kKey, seed) % 6;
    std::vector<std::uint64_t> counts;
    for (std::uint32_t i = 0; i < symbols; ++i) {
      const std::uint32_t draw = random_bits(kKey, 9000 + seed * 16 + i);
      counts.push_back((draw >> 8) % (1u << (1 + draw % 16)) + 1);
    }
    for (unsigned bits_max = 2; bits_max <= 4; ++bits_max) {
      const Histogram histogram = histogram_of(counts);
      const Codebook book = make_codebook(histogram, bits_max, 0);
      ASSERT_EQ(kraft(book), 256u);
      // For the choice of a code, an unused escape counts as if it were used once.
      const std::uint64_t slack = bits_max;
      const std::uint64_t best = cheapest_codebook(counts, bits_max);
      const std::uint64_t cost = coded_bits(book, histogram);
      ASSERT_GE(cost, best);
      ASSERT_LE(cost, best + slack) << "seed " << seed << ", at most " << bits_max << " bits";
    }
  }
}

// The escape needs the other bit.
TEST(Codebook, OneExponentTakesOneBit) {
  Histogram histogram = {};
  histogram[77] = 5;
  const Codebook book = make_codebook(histogram, 8, 3);
  EXPECT_EQ(book.bits[77], 1);
  EXPECT_EQ(book.bits[kEscape], 1);
  EXPECT_EQ(book.padding, 77);
  EXPECT_NE(book.escape_mark, 77);
  EXPECT_EQ(book.version, 3u);
}

TEST(Codebook, IsValidForNoSymbols) { EXPECT_EQ(kraft(make_codebook(Histogram{}, 8, 0)), 256u); }

// 256 codes of 8 bits would leave none for the escape.
TEST(Codebook, All256ExponentsLeaveOneEscapedAtLeast) {
  Histogram histogram;
  histogram.fill(1000);
  for (unsigned bits_max = kCodeBitsMin; bits_max <= kCodeBitsMax; ++bits_max) {
    const Codebook book = make_codebook(histogram, bits_max, 0);
    EXPECT_EQ(kraft(book), 256u);
    EXPECT_EQ(book.bits[book.escape_mark], 0);
    EXPECT_LE(*std::ranges::max_element(book.bits), bits_max);
  }
}

TEST(Codebook, NoCodeIsTheBeginningOfAnother) {
  Histogram histogram = {};
  for (unsigned e = 0; e < 40; ++e) histogram[90 + e] = std::uint64_t{1} << std::min(e, 39 - e);
  const Codebook book = make_codebook(histogram, 8, 0);
  for (unsigned a = 0; a < kExponents; ++a) {
    for (unsigned b = 0; b < kExponents; ++b) {
      if (a == b || book.bits[a] == 0 || book.bits[b] == 0 || book.bits[a] > book.bits[b]) continue;
      const unsigned mask = (1u << book.bits[a]) - 1;
      ASSERT_NE(book.code[a], book.code[b] & mask) << a << " and " << b;
    }
  }
  // The decoder's tables must agree with the codes.
  for (unsigned window = 0; window < 256; ++window) {
    const unsigned e = book.next_exponent[window];
    if (e == book.escape_mark) continue;
    ASSERT_EQ(book.next_bits[window], book.bits[e]);
    ASSERT_EQ(window & ((1u << book.bits[e]) - 1), book.code[e]);
  }
}

// Table 1 of the paper: exponent 0 has 3 bits, 255 has 4, and exponents with long codes are
// escaped.
TEST(Codebook, RareExponentsShareTheEscape) {
  Histogram histogram = {};
  histogram[0] = 1'000'000;
  histogram[110] = 900'000;
  histogram[111] = 500'000;
  histogram[32] = 1;
  histogram[138] = 1;
  const Codebook book = make_codebook(histogram, 8, 0);
  EXPECT_EQ(book.bits[0], 1);
  EXPECT_EQ(book.bits_or_escape[138] & 15, book.bits[kEscape]);
  EXPECT_EQ(book.bits_or_escape[200] & kEscapeFlag, kEscapeFlag);
  EXPECT_EQ(book.code[200], book.code[201]);
}

class CodebookBytes : public testing::Test {
 protected:
  CodebookBytes() : bytes(kCodebookBytes) {
    Histogram histogram = {};
    for (unsigned e = 100; e < 120; ++e) histogram[e] = (e - 99) * (e - 99);
    write_codebook(make_codebook(histogram, 8, 7), bytes);
  }
  StatusCode read(unsigned bits_max = 8) const {
    return read_codebook(bytes, bits_max).status().code();
  }

  Bytes bytes;
};

TEST_F(CodebookBytes, ComeBack) {
  const Result<Codebook> book = read_codebook(bytes, 8);
  ASSERT_TRUE(book.ok()) << book.status().text();
  EXPECT_EQ(book->version, 7u);
  Bytes again(kCodebookBytes);
  write_codebook(*book, again);
  EXPECT_EQ(again, bytes);
}

TEST_F(CodebookBytes, CutShortAreRefused) {
  EXPECT_EQ(read_codebook(ByteSpan(bytes).first(kCodebookBytes - 1), 8).status().code(),
            StatusCode::corrupt_data);
}

TEST_F(CodebookBytes, WithoutAnEscapeAreRefused) {
  bytes[4] = 0;
  EXPECT_EQ(read(), StatusCode::corrupt_data);
}

TEST_F(CodebookBytes, WithTooManyCodesAreRefused) {
  bytes[8] = 8;  // exponent 0 had none before
  EXPECT_EQ(read(), StatusCode::corrupt_data);
}

TEST_F(CodebookBytes, WithUnusedCodesAreRefused) {
  // Removes the code of exponent 119.
  bytes[8 + 119 / 2] = static_cast<std::uint8_t>(bytes[8 + 119 / 2] & 0x0fu);
  EXPECT_EQ(read(), StatusCode::corrupt_data);
}

TEST_F(CodebookBytes, WithCodesBeyondTheSpecAreRefused) {
  EXPECT_EQ(read(3), StatusCode::corrupt_data);
  bytes[4] = 9;
  EXPECT_EQ(read(), StatusCode::corrupt_data);
}

TEST_F(CodebookBytes, NoFlippedBitGetsByUnlessItIsTheVersion) {
  for (std::size_t bit = 0; bit < kCodebookBytes * 8; ++bit) {
    Bytes flipped = bytes;
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ (1u << bit % 8));
    // The first 32 bits are the version, for which every value is valid.
    EXPECT_EQ(read_codebook(flipped, 8).ok(), bit < 32) << "bit " << bit;
  }
}

}  // namespace
}  // namespace tributary::gcomp
