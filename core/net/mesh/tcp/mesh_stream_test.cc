// Tests of the stream format between peers: any division into pieces, damaged streams, and reused
// buffers.
#include "core/net/mesh/tcp/mesh_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tributary {
namespace {

struct StreamMessage {
  Bytes frame;
  Bytes payload;
};

// Passes the bytes to a reader in pieces of at most `step` bytes.
Result<std::vector<StreamMessage>> read_all(ByteSpan bytes, std::size_t step, BufferPool& pool) {
  MeshReader reader(100, 1000, pool);
  std::vector<StreamMessage> all;
  while (!bytes.empty()) {
    const MutableByteSpan space = reader.unfilled();
    EXPECT_FALSE(space.empty());
    const std::size_t count = std::min({space.size(), bytes.size(), step});
    std::copy_n(bytes.begin(), count, space.begin());
    bytes = bytes.subspan(count);
    TRIBUTARY_ASSIGN(const MeshReader::Completed completed, reader.process(count));
    if (completed != MeshReader::Completed::message) continue;
    const SharedSlice payload = reader.take_payload();
    all.push_back({reader.take_frame(), Bytes(payload.view().begin(), payload.view().end())});
  }
  return all;
}

Bytes stream(std::initializer_list<StreamMessage> messages) {
  Bytes all = mesh_greeting({.rank = 3, .session = 9});
  for (const StreamMessage& message : messages) {
    const Bytes head = mesh_head(message.frame, message.payload.size());
    all.insert(all.end(), head.begin(), head.end());
    all.insert(all.end(), message.payload.begin(), message.payload.end());
  }
  return all;
}

TEST(MeshStream, MessagesComeThroughHoweverTheyAreCut) {
  BufferPool pool(1u << 20);
  const StreamMessage one = {Bytes(5, 1), Bytes(1000, 2)};
  const StreamMessage two = {Bytes(100, 3), {}};
  const Bytes all = stream({one, two, one});
  for (const std::size_t step : {1u, 2u, 7u, 24u, 33u, 5000u}) {
    const auto messages = read_all(all, step, pool);
    ASSERT_TRUE(messages.ok()) << messages.status().text();
    ASSERT_EQ(messages->size(), 3u);
    EXPECT_EQ((*messages)[0].payload, one.payload);
    EXPECT_EQ((*messages)[1].frame, two.frame);
    EXPECT_TRUE((*messages)[1].payload.empty());
    EXPECT_EQ((*messages)[2].frame, one.frame);
  }
}

TEST(MeshStream, NothingIsAllocatedForALie) {
  BufferPool pool(1u << 20);
  EXPECT_FALSE(read_all(stream({{Bytes(101, 1), {}}}), 64, pool).ok());
  EXPECT_FALSE(read_all(stream({{Bytes(1, 1), Bytes(1001, 1)}}), 64, pool).ok());
  EXPECT_FALSE(read_all(stream({{{}, Bytes(10, 1)}}), 64, pool).ok());
  Bytes version = stream({});
  version[8] = 2;
  EXPECT_FALSE(read_all(version, 64, pool).ok());
  Bytes magic = stream({});
  magic[0] ^= 1;
  EXPECT_FALSE(read_all(magic, 64, pool).ok());
}

TEST(BufferPool, BuffersComeBackWhenTheyAreUnused) {
  BufferPool pool(1u << 20);
  Bytes buffer = pool.take(100'000);
  const std::uint8_t* const place = buffer.data();
  SharedSlice slice = pool.share(std::move(buffer));
  const SharedSlice part = slice.part(10, 20);
  slice = {};
  EXPECT_NE(pool.take(100'000).data(), place) << "a part of it is still held";
  const_cast<SharedSlice&>(part) = {};
  EXPECT_EQ(pool.take(90'000).data(), place);
}

TEST(BufferPool, KeepsNoMoreThanItMay) {
  BufferPool pool(150'000);
  { const SharedSlice a = pool.share(pool.take(100'000)), b = pool.share(pool.take(100'000)); }
  Bytes first = pool.take(100'000);
  Bytes second = pool.take(100'000);
  EXPECT_NE(first.data(), second.data());
  // A slice may outlive its pool.
  SharedSlice late;
  {
    BufferPool gone(1u << 20);
    late = gone.share(gone.take(50'000));
  }
  EXPECT_EQ(late.size(), 50'000u);
}

}  // namespace
}  // namespace tributary
