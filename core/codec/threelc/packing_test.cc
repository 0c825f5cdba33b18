// Tests of the quartic encoding of 3LC against a step-by-step version of the paper's section 3.2.
#include "core/codec/threelc/packing.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/codec/threelc/kernels.h"

namespace tributary::threelc {
namespace {

// Section 3.2 of the paper, step by step.
std::vector<std::uint8_t> quartic_of_paper(std::vector<int> values) {
  for (int& value : values) value += 1;
  while (values.size() % 5 != 0) values.push_back(1);  // padding with zeros, which have become 1
  const std::size_t length = values.size() / 5;
  std::vector<std::uint8_t> bytes(length);
  for (std::size_t i = 0; i < length; ++i) {
    const auto p = [&](std::size_t j) { return values[j * length + i]; };
    bytes[i] = static_cast<std::uint8_t>(p(0) * 81 + p(1) * 27 + p(2) * 9 + p(3) * 3 + p(4));
  }
  return bytes;
}

template <class P>
std::vector<std::uint8_t> packed(const std::vector<int>& digits) {
  std::vector<std::uint8_t> bytes(P::bytes(digits.size()));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] = pack_byte<P>(digits.size(), at, [&](std::size_t index) { return digits[index]; });
  }
  return bytes;
}

template <class P>
std::vector<int> unpacked(const std::vector<std::uint8_t>& bytes, std::size_t count) {
  // 99 is not a digit, so a missing one is detected.
  std::vector<int> digits(count, 99);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    unpack_byte<P>(bytes[at], count, at,
                   [&](std::size_t index, int digit) { digits[index] = digit; });
  }
  return digits;
}

TEST(Packing, FiveZerosAreTheByte121) {
  EXPECT_EQ(packed<Quartic>({0, 0, 0, 0, 0}), std::vector<std::uint8_t>{121});
  EXPECT_EQ(packed<Quartic>({1, 1, 1, 1, 1}), std::vector<std::uint8_t>{242});
  EXPECT_EQ(packed<Quartic>({-1, -1, -1, -1, -1}), std::vector<std::uint8_t>{0});
}

TEST(Packing, StripesOfAPaddedBucket) {
  // Two bytes from stripes (1, -1), (0, 1), (-1, 0), (1, padding), (padding, padding).
  const std::vector<int> digits = {1, -1, 0, 1, -1, 0, 1};
  EXPECT_EQ(packed<Quartic>(digits), (std::vector<std::uint8_t>{121 + 81 - 9 + 3, 121 - 81 + 27}));
  // Two bytes from stripes (1, -1), (0, 1), (-1, 0), (1, padding).
  EXPECT_EQ(packed<TwoBit>(digits), (std::vector<std::uint8_t>{0b10'01'00'10, 0b00'10'01'01}));
}

TEST(Packing, QuarticIsThePapers) {
  for (std::size_t count = 0; count < 60; ++count) {
    std::vector<int> digits(count);
    for (std::size_t i = 0; i < count; ++i) digits[i] = static_cast<int>(i * i * 7 / 3 % 3) - 1;
    EXPECT_EQ(packed<Quartic>(digits), quartic_of_paper(digits)) << count << " values";
    EXPECT_EQ(unpacked<Quartic>(packed<Quartic>(digits), count), digits);
    EXPECT_EQ(unpacked<TwoBit>(packed<TwoBit>(digits), count), digits);
  }
}

TEST(Packing, DecodingRestoresEveryByte) {
  for (int byte = 0; byte < 243; ++byte) {
    const std::vector<int> digits =
        unpacked<Quartic>({static_cast<std::uint8_t>(byte)}, Quartic::kDigits);
    int rest = byte;
    for (std::size_t j = 5; j-- > 0; rest /= 3) EXPECT_EQ(digits[j], rest % 3 - 1) << byte;
    EXPECT_EQ(packed<Quartic>(digits), std::vector<std::uint8_t>{static_cast<std::uint8_t>(byte)});
  }
}

TEST(Packing, FullBytesHaveAValueInEveryStripe) {
  for (std::size_t count = 0; count < 40; ++count) {
    const std::size_t bytes = Quartic::bytes(count);
    for (std::size_t begin = 0; begin <= bytes; ++begin) {
      std::size_t full = begin;
      while (full < bytes && 4 * bytes + full < count) ++full;
      EXPECT_EQ(end_of_full_bytes<Quartic>({.count = count, .begin = begin, .end = bytes}), full)
          << count << " values from byte " << begin;
    }
  }
}

}  // namespace
}  // namespace tributary::threelc
