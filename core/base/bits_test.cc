#include "core/base/bits.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/base/random.h"

namespace tributary {
namespace {

TEST(Bits, FillBytesFromTheLowEnd) {
  Bytes bytes;
  BitWriter writer(bytes);
  writer.write(0b1, 1);
  writer.write(0b0110, 4);
  writer.write(0b1010'1010, 8);
  writer.finish();
  EXPECT_EQ(bytes, Bytes({0b0100'1101, 0b0001'0101}));
}

TEST(Bits, ReadBackForEveryWidth) {
  for (unsigned bits = 1; bits <= 32; ++bits) {
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
    for (std::uint32_t count : {0u, 1u, 7u, 8u, 9u, 100u}) {
      Bytes bytes;
      BitWriter writer(bytes);
      for (std::uint32_t i = 0; i < count; ++i)
        writer.write(random_bits({bits, 0}, i) & mask, bits);
      writer.finish();
      ASSERT_EQ(bytes.size(), packed_bytes(count, bits));

      BitReader reader(bytes);
      for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(*reader.read(bits, "field"), random_bits({bits, 0}, i) & mask);
      }
      EXPECT_TRUE(reader.expect_padding("fields").ok());
    }
  }
}

TEST(Bits, ReadBackWhenWidthsMix) {
  std::vector<std::pair<std::uint32_t, unsigned>> fields;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const unsigned bits = random_bits({1, 0}, i) % 33;
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    fields.emplace_back(static_cast<std::uint32_t>(random_bits({2, 0}, i) & mask), bits);
  }
  Bytes bytes;
  BitWriter writer(bytes);
  for (const auto& [value, bits] : fields) writer.write(value, bits);
  writer.finish();
  BitReader reader(bytes);
  for (const auto& [value, bits] : fields) ASSERT_EQ(*reader.read(bits, "field"), value);
  EXPECT_TRUE(reader.expect_padding("fields").ok());
}

TEST(BitReader, FailsWhereTheBytesEndAndStaysThere) {
  const Bytes bytes = {0xff, 0x01};
  BitReader reader(bytes);
  ASSERT_EQ(*reader.read(9, "start"), 0x1ffu);
  EXPECT_EQ(reader.bits_remaining(), 7u);
  const auto result = reader.read(8, "level");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::corrupt_data);
  EXPECT_NE(result.status().text().find("level"), std::string::npos);
  EXPECT_EQ(reader.bits_remaining(), 7u);
  EXPECT_EQ(*reader.read(7, "rest"), 0u);
}

TEST(BitReader, AcceptsOnlyZeroBitsOfOneByteAsPadding) {
  const auto padding_after = [](const Bytes& bytes, unsigned bits) {
    BitReader reader(bytes);
    EXPECT_TRUE(reader.read(bits, "field").ok());
    return reader.expect_padding("fields").ok();
  };
  EXPECT_TRUE(padding_after({0x07}, 3));
  EXPECT_FALSE(padding_after({0x87}, 3));
  EXPECT_TRUE(padding_after({0xff}, 8));
  EXPECT_FALSE(padding_after({0xff, 0x00}, 8));
  EXPECT_FALSE(padding_after({0x01, 0x00}, 3));
}

TEST(Bits, CountWhatIsNeeded) {
  EXPECT_EQ(bits_for(0), 0u);
  EXPECT_EQ(bits_for(1), 1u);
  EXPECT_EQ(bits_for(255), 8u);
  EXPECT_EQ(bits_for(256), 9u);
  EXPECT_EQ(packed_bytes(0, 5), 0u);
  EXPECT_EQ(packed_bytes(8, 5), 5u);
  EXPECT_EQ(packed_bytes(9, 5), 6u);
}

}  // namespace
}  // namespace tributary
