// Tests of byte sources: plain files, gzip files and memory. Any cut or changed byte of a gzip file
// is an error.
#include "core/data/source.h"

#include <gmock/gmock.h>

#include "core/data/formats/loaders_testing.h"

namespace tributary {
namespace {

using data_testing::counting;
using data_testing::Folder;
using data_testing::gzip;
using data_testing::joined;
using testing::HasSubstr;

TEST(Source, ReadsPlainAndCompressedFilesAlike) {
  const Folder folder;
  const Bytes bytes = counting(100'000);
  for (const std::string& path : {folder.write("plain", bytes), folder.write("x", gzip(bytes))}) {
    const auto source = open_source(path, {});
    ASSERT_TRUE(source.ok()) << source.status().text();
    ASSERT_EQ((*source)->size(), bytes.size());
    Bytes part(3);
    ASSERT_TRUE((*source)->read(99'997, part).ok());
    EXPECT_EQ(part, Bytes(bytes.end() - 3, bytes.end()));
  }
}

TEST(Source, MemoryRefusesReadsBeyondItsEnd) {
  const auto source = memory_source(counting(10));
  Bytes part(3);
  EXPECT_TRUE(source->read(7, part).ok());
  EXPECT_FALSE(source->read(8, part).ok());
  EXPECT_FALSE(source->read(~std::uint64_t{0}, part).ok());
}

TEST(Gzip, JoinsMembers) {
  const Bytes first = counting(3'000'000);
  const Bytes second = counting(17, 5);
  const auto out = inflate_gzip(joined(gzip(first), gzip(second)), 1u << 24);
  ASSERT_TRUE(out.ok()) << out.status().text();
  EXPECT_EQ(*out, joined(first, second));
}

TEST(Gzip, EmptyInputGivesNoBytes) {
  const auto out = inflate_gzip(gzip({}), 100);
  ASSERT_TRUE(out.ok()) << out.status().text();
  EXPECT_TRUE(out->empty());
}

// A small file that expands to 16 MiB is refused at the limit.
TEST(Gzip, StopsAtItsCap) {
  const Bytes bomb = gzip(Bytes(1u << 24, 7));
  EXPECT_LT(bomb.size(), 1u << 15);
  const Status status = inflate_gzip(bomb, (1u << 24) - 1).status();
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(status.text(), HasSubstr("gunzip"));
  EXPECT_TRUE(inflate_gzip(bomb, 1u << 24).ok());
}

TEST(Gzip, EveryCutIsAnError) {
  const Bytes whole = gzip(counting(300));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Status status = inflate_gzip(ByteSpan(whole).first(size), 1u << 20).status();
    ASSERT_EQ(status.code(), StatusCode::corrupt_data) << size;
  }
}

TEST(Gzip, EveryChangedByteBehindTheHeaderIsAnError) {
  const Bytes whole = gzip(counting(300));
  for (std::size_t i = 10; i < whole.size(); ++i) {
    Bytes changed = whole;
    changed[i] ^= 0x10;
    ASSERT_FALSE(inflate_gzip(changed, 1u << 20).ok()) << i;
  }
}

TEST(Gzip, GarbageBehindTheEndIsAnError) {
  EXPECT_FALSE(inflate_gzip(joined(gzip(counting(9)), counting(9)), 1u << 20).ok());
}

}  // namespace
}  // namespace tributary
