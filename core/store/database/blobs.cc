#include "core/store/database/blobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/bytes/checksum.h"

namespace tributary {

// A chunk to be stored.
struct Blobs::Piece {
  std::size_t value = 0;  // index in the list of new values
  std::uint64_t place = 0;
  ByteSpan bytes;
  std::uint64_t hash = 0;
  std::uint64_t chunk = 0;  // row to overwrite; 0: a new row
  BlobId blob = 0;
};

// Rows of removed blobs that can be used again.
class Blobs::Pool {
 public:
  void add(std::uint64_t chunk, std::uint64_t bytes, std::uint64_t hash) {
    chunks_.emplace(std::pair(bytes, hash), chunk);
  }
  // A row with the same length and hash; 0 if none exists.
  std::uint64_t take_same(std::uint64_t bytes, std::uint64_t hash) {
    return take(chunks_.find({bytes, hash}), bytes);
  }
  // A row of the same length, to be overwritten in place; 0 if none exists.
  std::uint64_t take_as_long(std::uint64_t bytes) {
    return take(chunks_.lower_bound({bytes, 0}), bytes);
  }
  const auto& left() const { return chunks_; }

 private:
  using Chunks = std::multimap<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;

  std::uint64_t take(Chunks::iterator found, std::uint64_t bytes) {
    if (found == chunks_.end() || found->first.first != bytes) return 0;
    const std::uint64_t chunk = found->second;
    chunks_.erase(found);
    return chunk;
  }

  Chunks chunks_;  // key: length and hash
};

namespace {

// Calls `piece` with the place and the bytes of each chunk. The first chunk is shorter if the value
// begins within a chunk of the larger value.
template <typename Function>
void cut(const NewBlob& value, Function&& piece) {
  std::size_t first = kChunkBytes - static_cast<std::size_t>(value.begins_at % kChunkBytes);
  std::uint64_t place = 0;
  for (ByteSpan rest = value.bytes; !rest.empty(); first = kChunkBytes) {
    const std::size_t size = std::min(first, rest.size());
    piece(place++, rest.first(size));
    rest = rest.subspan(size);
  }
}

}  // namespace

Result<std::vector<BlobId>> Blobs::exchange(std::span<const BlobId> old_blobs,
                                            std::span<const NewBlob> values) {
  // The old blobs' chunks go to a pool; the new blobs take chunks from it, and the rest is deleted.
  Pool pool;
  for (const BlobId blob : old_blobs) TRIBUTARY_TRY(dismantle(blob, pool));

  std::vector<Piece> pieces;
  for (std::size_t value = 0; value < values.size(); ++value) {
    cut(values[value], [&](std::uint64_t place, ByteSpan bytes) {
      const std::uint64_t hash = hash64(bytes);
      pieces.push_back({.value = value,
                        .place = place,
                        .bytes = bytes,
                        .hash = hash,
                        .chunk = pool.take_same(bytes.size(), hash)});
    });
  }
  // Equal chunks are claimed for all values first; only the rest overwrites other rows.
  for (Piece& piece : pieces) {
    if (piece.chunk == 0) piece.chunk = pool.take_as_long(piece.bytes.size());
  }
  for (const auto& [key, chunk] : pool.left()) {
    TRIBUTARY_TRY(database_->run("DELETE FROM chunks WHERE chunk = ?", chunk));
  }

  std::vector<BlobId> blobs;
  for (const NewBlob& value : values) {
    TRIBUTARY_TRY(database_->run("INSERT INTO blobs (bytes) VALUES (?)", value.bytes.size()));
    blobs.push_back(static_cast<BlobId>(database_->last_row_id()));
  }
  for (Piece& piece : pieces) {
    piece.blob = blobs[piece.value];
    TRIBUTARY_TRY(write(piece));
  }
  return blobs;
}

Result<BlobId> Blobs::add(ByteSpan value) {
  const NewBlob blob{.bytes = value};
  TRIBUTARY_ASSIGN(const std::vector<BlobId> blobs, exchange({}, {&blob, 1}));
  return blobs.front();
}

Status Blobs::remove(BlobId blob) { return exchange({&blob, 1}, {}).status(); }

// Removes the blob's rows but not its chunks, which go to the pool.
Status Blobs::dismantle(BlobId blob, Pool& pool) {
  const auto take = [&](Rows& row) -> Status {
    std::uint64_t chunk = 0;
    std::uint64_t bytes = 0;
    std::uint64_t hash = 0;
    TRIBUTARY_TRY(row.read(chunk, bytes, hash));
    pool.add(chunk, bytes, hash);
    return {};
  };
  TRIBUTARY_TRY(
      database_->each("SELECT chunk, bytes, hash FROM blob_chunks WHERE blob = ?", take, blob));
  TRIBUTARY_TRY(database_->run("DELETE FROM blob_chunks WHERE blob = ?", blob));
  return database_->run("DELETE FROM blobs WHERE blob = ?", blob);
}

// Overwriting a row with the same number of bytes logs only pages that differ. If the stored hash
// was right, nothing is logged; if the chunk was damaged, it is repaired.
Status Blobs::write(const Piece& piece) {
  std::uint64_t chunk = piece.chunk;
  if (chunk != 0) {
    TRIBUTARY_TRY(
        database_->run("UPDATE chunks SET data = ?2 WHERE chunk = ?1", chunk, piece.bytes));
    if (database_->rows_changed() != 1) {
      return damaged(piece.blob, fmt::format("chunk {}", chunk), "no such row");
    }
  } else {
    TRIBUTARY_TRY(database_->run("INSERT INTO chunks (data) VALUES (?)", piece.bytes));
    chunk = static_cast<std::uint64_t>(database_->last_row_id());
  }
  return database_->run(
      "INSERT INTO blob_chunks (blob, place, chunk, bytes, hash) VALUES (?, ?, ?, ?, ?)",
      piece.blob, piece.place, chunk, piece.bytes.size(), piece.hash);
}

Result<std::shared_ptr<const Bytes>> Blobs::read_bytes(BlobId blob) {
  TRIBUTARY_ASSIGN(const std::uint64_t size, size_of(blob));
  auto bytes = std::make_shared<Bytes>(size);
  TRIBUTARY_TRY(read_into(blob, *bytes));
  return std::shared_ptr<const Bytes>(std::move(bytes));
}

Result<std::shared_ptr<const FloatVector>> Blobs::read_floats(BlobId blob) {
  TRIBUTARY_ASSIGN(const std::uint64_t size, size_of(blob));
  if (size % sizeof(float) != 0) return damaged(blob, "whole floats", fmt::format("{} B", size));
  auto floats = std::make_shared<FloatVector>(size / sizeof(float));
  TRIBUTARY_TRY(read_into(blob, {reinterpret_cast<std::uint8_t*>(floats->data()), size}));
  return std::shared_ptr<const FloatVector>(std::move(floats));
}

// A stored size beyond the file's own size is damage.
Result<std::uint64_t> Blobs::size_of(BlobId blob) {
  std::uint64_t size = 0;
  TRIBUTARY_ASSIGN(const bool there, database_->first("SELECT bytes FROM blobs WHERE blob = ?",
                                                      std::tie(size), blob));
  if (!there) return damaged(blob, "a blob of this number", "none");
  const std::uint64_t size_max = database_->file_bytes();
  if (size <= size_max) return size;
  return damaged(blob, fmt::format("at most the {} bytes of the file", size_max),
                 fmt::format("{}", size));
}

Status Blobs::read_into(BlobId blob, MutableByteSpan bytes) {
  std::size_t filled = 0;
  const auto fill = [&](Rows& row) -> Status {
    std::uint64_t hash = 0;
    ByteSpan data;
    TRIBUTARY_TRY(row.read(hash, data));
    if (data.size() > bytes.size() - filled) return damaged(blob, "its length", "more");
    if (hash64(data) != hash) {
      return damaged(blob, fmt::format("hash {:016x} at byte {}", hash, filled),
                     fmt::format("{:016x}", hash64(data)));
    }
    std::ranges::copy(data, bytes.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += data.size();
    return {};
  };
  TRIBUTARY_TRY(database_->each(
      "SELECT hash, data FROM blob_chunks JOIN chunks USING (chunk) WHERE blob = ? ORDER BY place",
      fill, blob));
  if (filled == bytes.size()) return {};
  return damaged(blob, fmt::format("{} bytes", bytes.size()), fmt::format("{}", filled));
}

Status Blobs::damaged(BlobId blob, std::string expected, std::string got) const {
  return Status(StatusCode::corrupt_data,
                {.what = fmt::format("database '{}', blob {}", database_->path(), blob),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "move the file away, and restore a copy or start with a new file"});
}

}  // namespace tributary
