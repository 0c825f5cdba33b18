// Tests of the checksum against published values. It is part of file and wire formats, so it may
// never change.
#include "core/base/bytes/checksum.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/random.h"

namespace tributary {
namespace {

Bytes some_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::uint8_t>(random_bits({1, 2}, static_cast<std::uint32_t>(i)));
  }
  return bytes;
}

// Values published with xxHash. They must be the same for every build of the library.
TEST(Checksum, IsXxh3) {
  EXPECT_EQ(hash64({}), 0x2d06800538d394c2u);
  EXPECT_EQ(hash64(bytes_of("a")), 0xe6c632b61e964e1fu);
  EXPECT_EQ(hash64(bytes_of("abc")), 0x78af5f94892f3950u);
  EXPECT_EQ(checksum32(bytes_of("abc")), 0x892f3950u);
}

// Long inputs use vectorized code; this value was computed by the plain code.
TEST(Checksum, IsTheSameForLongInputs) {
  EXPECT_EQ(hash64(some_bytes(1 << 20)), 0x9bcda87e769e9f7fu);
}

// Sizes next to the limits at which XXH3 changes its algorithm.
TEST(Checksum, IsTheSameInPieces) {
  for (std::size_t size : {0u, 1u, 16u, 17u, 240u, 241u, 256u, 1024u, 5000u, 100'000u}) {
    const Bytes bytes = some_bytes(size);
    for (std::size_t piece : {1u, 7u, 64u, 255u, 256u, 257u, 4096u}) {
      Checksum checksum;
      for (std::size_t at = 0; at < size; at += piece) {
        checksum.update(ByteSpan(bytes).subspan(at, std::min(piece, size - at)));
      }
      EXPECT_EQ(checksum.finish(), checksum32(bytes)) << size << " in pieces of " << piece;
      EXPECT_EQ(checksum.finish64(), hash64(bytes));
    }
  }
}

TEST(Checksum, GoesOnAfterFinish) {
  Checksum checksum;
  checksum.update(bytes_of("ab"));
  EXPECT_EQ(checksum.finish(), checksum32(bytes_of("ab")));
  // A copy continues independently.
  Checksum copy = checksum;
  checksum.update(bytes_of("c"));
  copy.update(bytes_of("d"));
  EXPECT_EQ(checksum.finish(), checksum32(bytes_of("abc")));
  EXPECT_EQ(copy.finish(), checksum32(bytes_of("abd")));
}

TEST(Checksum, NoticesEveryFlippedBit) {
  Bytes bytes = some_bytes(300);
  const std::uint32_t before = checksum32(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1 << (bit % 8));
    bytes[bit / 8] ^= mask;
    EXPECT_NE(checksum32(bytes), before) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
}

}  // namespace
}  // namespace tributary
