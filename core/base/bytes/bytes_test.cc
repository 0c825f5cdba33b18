// Tests of reading and writing integers in byte buffers, and of their bounds: errors name the field
// and its place.
#include "core/base/bytes/bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace tributary {
namespace {

TEST(ByteWriter, IsLittleEndian) {
  Bytes bytes;
  ByteWriter writer(bytes);
  ASSERT_TRUE(writer.write(std::uint32_t{0x04030201}).ok());
  ASSERT_TRUE(writer.write(std::uint16_t{0x0605}).ok());
  EXPECT_EQ(bytes, Bytes({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(writer.size(), 6u);
}

TEST(ByteReader, ReadsWrittenValues) {
  Bytes bytes;
  ByteWriter writer(bytes);
  ASSERT_TRUE(writer.write(std::int64_t{-5}).ok());
  ASSERT_TRUE(writer.write(1.5f).ok());
  ASSERT_TRUE(writer.append(bytes_of("text")).ok());
  ASSERT_TRUE(writer.write(-std::numeric_limits<double>::infinity()).ok());

  ByteReader reader(bytes);
  EXPECT_EQ(*reader.read<std::int64_t>("a"), -5);
  EXPECT_EQ(*reader.read<float>("b"), 1.5f);
  const ByteSpan text = *reader.take(4, "c");
  EXPECT_EQ(std::string(text.begin(), text.end()), "text");
  EXPECT_FALSE(reader.expect_end("message").ok());
  EXPECT_EQ(*reader.read<double>("d"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(reader.expect_end("message").ok());
}

TEST(ByteReader, NamesTheFieldAndItsPlaceWhereTheBytesEnd) {
  const std::array<std::uint8_t, 7> bytes = {};
  ByteReader reader(bytes);
  ASSERT_TRUE(reader.skip(5, "start").ok());
  const auto result = reader.read<std::uint32_t>("length");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().text(),
            "corrupt_data: length at byte 5: expected 4 bytes, got 2 before the end");
}

// A failed read must not consume bytes, and a count of SIZE_MAX must not overflow.
TEST(ByteReader, StaysInPlaceAfterAnError) {
  const std::array<std::uint8_t, 3> bytes = {7, 8, 9};
  ByteReader reader(bytes);
  EXPECT_FALSE(reader.read<std::uint32_t>("x").ok());
  EXPECT_FALSE(reader.take(4, "x").ok());
  EXPECT_FALSE(reader.skip(std::numeric_limits<std::size_t>::max(), "x").ok());
  EXPECT_EQ(reader.position(), 0u);
  EXPECT_EQ(*reader.read<std::uint8_t>("x"), 7);
  EXPECT_EQ(reader.remaining(), 2u);
}

TEST(ByteReader, ReadsNothingFromNothing) {
  ByteReader reader(ByteSpan{});
  EXPECT_TRUE(reader.take(0, "nothing").ok());
  EXPECT_TRUE(reader.expect_end("nothing").ok());
  EXPECT_FALSE(reader.read<std::uint8_t>("a byte").ok());
}

TEST(ByteWriter, StopsAtItsCap) {
  Bytes bytes;
  ByteWriter writer(bytes, 5);
  ASSERT_TRUE(writer.write(std::uint32_t{1}).ok());
  const Status status = writer.write(std::uint16_t{2});
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_EQ(bytes.size(), 4u);
  EXPECT_TRUE(writer.write(std::uint8_t{3}).ok());
}

// The space left must not be computed as a negative number.
TEST(ByteWriter, RefusesWhereTheBufferIsBeyondTheCapAlready) {
  Bytes bytes(10);
  ByteWriter writer(bytes, 5);
  EXPECT_FALSE(writer.write(std::uint8_t{1}).ok());
  EXPECT_EQ(bytes.size(), 10u);
}

// A page of unused memory is not worth a copy, nor is an eighth of the bytes.
TEST(ReleaseUnused, LeavesMemoryOfTheSize) {
  for (const std::size_t size : {0u, 5u, 100'000u}) {
    Bytes bytes(1'000'000, 7);
    bytes.resize(size);
    release_unused(bytes);
    EXPECT_EQ(bytes.capacity(), size);
    EXPECT_EQ(bytes, Bytes(size, 7));
  }
  for (const std::size_t size : {996'000u, 900'000u}) {
    Bytes bytes(1'000'000, 7);
    const std::uint8_t* const place = bytes.data();
    bytes.resize(size);
    release_unused(bytes);
    EXPECT_EQ(bytes.data(), place) << size;
  }
}

TEST(RawVector, StartsOnACacheLine) {
  for (std::size_t size : {1u, 63u, 1000u, 1u << 20}) {
    const FloatVector values(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % 64, 0u) << size;
  }
}

// Only new elements stay uninitialized; an explicit value still initializes.
TEST(RawVector, KeepsItsContentWhenItGrows) {
  Bytes bytes = {1, 2, 3};
  bytes.resize(100'000);
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 3), Bytes({1, 2, 3}));
  const Bytes zeros(8, 0);
  EXPECT_EQ(zeros, Bytes({0, 0, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace tributary
