#include "core/store/database/blobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/bytes/checksum.h"

namespace tributary {

// A chunk to be stored.
struct Blobs::Piece {
  std::size_t value = 0;  // index in the list of new values
  std::uint64_t place = 0;
  ByteSpan bytes;
  std::uint64_t hash = 0;
  std::uint64_t chunk = 0;                 // row to overwrite; 0: a new row
  std::optional<std::uint64_t> slot = {};  // offset in the file; empty: it is a row
  BlobId blob = 0;
};

// Chunks of removed blobs that can be used again.
class Blobs::Pool {
 public:
  void add(std::uint64_t chunk, std::uint64_t bytes, std::uint64_t hash) {
    chunks_.emplace(std::pair(bytes, hash), chunk);
  }
  void add_large(const FileExtent& extent, std::uint64_t hash) {
    large_.emplace(std::pair(extent.bytes, hash), extent.begins_at);
  }
  // The slot of a large chunk with the same length and hash.
  std::optional<std::uint64_t> take_same_large(std::uint64_t bytes, std::uint64_t hash) {
    const auto found = large_.find({bytes, hash});
    if (found == large_.end()) return std::nullopt;
    const std::uint64_t slot = found->second;
    large_.erase(found);
    return slot;
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
  const auto& left_large() const { return large_; }

 private:
  using Chunks = std::multimap<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;

  std::uint64_t take(Chunks::iterator found, std::uint64_t bytes) {
    if (found == chunks_.end() || found->first.first != bytes) return 0;
    const std::uint64_t chunk = found->second;
    chunks_.erase(found);
    return chunk;
  }

  Chunks chunks_;  // key: length and hash
  Chunks large_;   // of the slots
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
      Piece& piece = pieces.emplace_back(
          Piece{.value = value, .place = place, .bytes = bytes, .hash = hash64(bytes)});
      if (is_large(bytes)) piece.slot = pool.take_same_large(bytes.size(), piece.hash);
      if (!piece.slot) piece.chunk = pool.take_same(bytes.size(), piece.hash);
    });
  }
  // Equal chunks are claimed for all values first; only the rest overwrites other rows.
  for (Piece& piece : pieces) {
    if (piece.slot || piece.chunk != 0) continue;
    if (!is_large(piece.bytes)) {
      piece.chunk = pool.take_as_long(piece.bytes.size());
      continue;
    }
    TRIBUTARY_ASSIGN(const FileExtent extent, large_.file->add(piece.bytes));
    piece.slot = extent.begins_at;
  }
  for (const auto& [key, slot] : pool.left_large()) {
    large_.file->remove({.begins_at = slot, .bytes = key.first});
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
    std::optional<std::uint64_t> slot;
    TRIBUTARY_TRY(row.read(chunk, bytes, hash, slot));
    if (slot) {
      pool.add_large({.begins_at = *slot, .bytes = bytes}, hash);
    } else {
      pool.add(chunk, bytes, hash);
    }
    return {};
  };
  TRIBUTARY_TRY(database_->each(
      large_.file ? "SELECT chunk, bytes, hash, slot FROM blob_chunks WHERE blob = ?"
                  : "SELECT chunk, bytes, hash, NULL FROM blob_chunks WHERE blob = ?",
      take, blob));
  TRIBUTARY_TRY(database_->run("DELETE FROM blob_chunks WHERE blob = ?", blob));
  return database_->run("DELETE FROM blobs WHERE blob = ?", blob);
}

// Overwriting a row with the same number of bytes logs only pages that differ. If the stored hash
// was right, nothing is logged; if the chunk was damaged, it is repaired.
Status Blobs::write_row(const Piece& piece, std::uint64_t& chunk) {
  chunk = piece.chunk;
  if (chunk != 0) {
    TRIBUTARY_TRY(
        database_->run("UPDATE chunks SET data = ?2 WHERE chunk = ?1", chunk, piece.bytes));
    if (database_->rows_changed() != 1) {
      return damage(piece.blob, fmt::format("chunk {}", chunk), "no such row");
    }
  } else {
    TRIBUTARY_TRY(database_->run("INSERT INTO chunks (data) VALUES (?)", piece.bytes));
    chunk = static_cast<std::uint64_t>(database_->last_row_id());
  }
  return {};
}

// A large chunk is in the file already.
Status Blobs::write(const Piece& piece) {
  std::uint64_t chunk = 0;
  if (!piece.slot) TRIBUTARY_TRY(write_row(piece, chunk));
  if (large_.file) {
    return database_->run(
        "INSERT INTO blob_chunks (blob, place, chunk, bytes, hash, slot) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        piece.blob, piece.place, chunk, piece.bytes.size(), piece.hash, piece.slot);
  }
  return database_->run(
      "INSERT INTO blob_chunks (blob, place, chunk, bytes, hash) VALUES (?, ?, ?, ?, ?)",
      piece.blob, piece.place, chunk, piece.bytes.size(), piece.hash);
}

bool Blobs::is_large(ByteSpan bytes) const {
  return large_.file && bytes.size() >= large_.bytes_min;
}

Status Blobs::find_large_chunks() {
  std::vector<FileExtent> extents;
  const auto add = [&](Rows& row) -> Status {
    FileExtent& extent = extents.emplace_back();
    return row.read(extent.begins_at, extent.bytes);
  };
  TRIBUTARY_TRY(database_->each("SELECT slot, bytes FROM blob_chunks WHERE slot IS NOT NULL", add));
  return large_.file->use(std::move(extents));
}

// The rows are collected first: `chunk` may change the table.
Result<std::uint64_t> Blobs::each_large_chunk(const std::function<Status(LargeChunk&)>& chunk) {
  struct Entry {
    BlobId blob = 0;
    std::uint64_t place = 0;
    std::uint64_t slot = 0;
    std::uint64_t bytes = 0;
    std::uint64_t hash = 0;
  };
  std::vector<Entry> entries;
  const auto add = [&](Rows& row) -> Status {
    Entry& entry = entries.emplace_back();
    return row.read(entry.blob, entry.place, entry.slot, entry.bytes, entry.hash);
  };
  TRIBUTARY_TRY(database_->each(
      "SELECT blob, place, slot, bytes, hash FROM blob_chunks WHERE slot IS NOT NULL", add));
  std::uint64_t damaged = 0;
  for (const Entry& entry : entries) {
    LargeChunk read{.blob = entry.blob, .place = entry.place, .data = {}};
    Status status;
    if (entry.bytes > kChunkBytes) {
      status = damage(entry.blob, fmt::format("a chunk of at most {} bytes", kChunkBytes),
                      fmt::format("{}", entry.bytes));
    } else {
      read.data.resize(entry.bytes);
      status = read_large(entry.blob, entry.slot, read.data);
    }
    if (status.code() == StatusCode::corrupt_data ||
        (status.ok() && hash64(read.data) != entry.hash)) {
      damaged += entry.bytes;
      continue;
    }
    TRIBUTARY_TRY(status);
    TRIBUTARY_TRY(chunk(read));
  }
  return damaged;
}

Status Blobs::put_in_row(const LargeChunk& chunk) {
  TRIBUTARY_TRY(database_->run("INSERT INTO chunks (data) VALUES (?)", ByteSpan(chunk.data)));
  return database_->run(
      "UPDATE blob_chunks SET chunk = ?, slot = NULL WHERE blob = ? AND place = ?",
      static_cast<std::uint64_t>(database_->last_row_id()), chunk.blob, chunk.place);
}

Result<std::shared_ptr<const Bytes>> Blobs::read_bytes(BlobId blob) {
  return read_bytes(blob, nullptr);
}

Result<std::shared_ptr<const Bytes>> Blobs::read_bytes(BlobId blob, std::uint64_t& damaged) {
  return read_bytes(blob, &damaged);
}

Result<std::shared_ptr<const Bytes>> Blobs::read_bytes(BlobId blob, std::uint64_t* damaged) {
  TRIBUTARY_ASSIGN(const std::uint64_t size, size_of(blob, damaged));
  auto bytes = std::make_shared<Bytes>(size);
  if (size > 0) TRIBUTARY_TRY(read_into(blob, *bytes, damaged));
  return std::shared_ptr<const Bytes>(std::move(bytes));
}

Result<std::shared_ptr<const FloatVector>> Blobs::read_floats(BlobId blob) {
  return read_floats(blob, nullptr);
}

Result<std::shared_ptr<const FloatVector>> Blobs::read_floats(BlobId blob, std::uint64_t& damaged) {
  return read_floats(blob, &damaged);
}

Result<std::shared_ptr<const FloatVector>> Blobs::read_floats(BlobId blob, std::uint64_t* damaged) {
  TRIBUTARY_ASSIGN(const std::uint64_t size, size_of(blob, damaged));
  if (size % sizeof(float) != 0) return damage(blob, "whole floats", fmt::format("{} B", size));
  auto floats = std::make_shared<FloatVector>(size / sizeof(float));
  if (size > 0) {
    TRIBUTARY_TRY(
        read_into(blob, {reinterpret_cast<std::uint8_t*>(floats->data()), size}, damaged));
  }
  return std::shared_ptr<const FloatVector>(std::move(floats));
}

// A stored size beyond the size of the files is damage: of the database, or because the end of the
// other file is lost.
Result<std::uint64_t> Blobs::size_of(BlobId blob, std::uint64_t* damaged) {
  std::uint64_t size = 0;
  TRIBUTARY_ASSIGN(const bool there, database_->first("SELECT bytes FROM blobs WHERE blob = ?",
                                                      std::tie(size), blob));
  if (!there) return damage(blob, "a blob of this number", "none");
  const std::uint64_t size_max = database_->file_bytes() + (large_.file ? large_.file->bytes() : 0);
  if (size <= size_max) return size;
  if (damaged && large_.file) {
    std::uint64_t chunks = 0;
    TRIBUTARY_TRY(
        database_
            ->first("SELECT total(bytes) = ? FROM blob_chunks WHERE blob = ? AND slot IS NOT NULL",
                    std::tie(chunks), static_cast<double>(size), blob)
            .status());
    if (chunks != 0) {
      *damaged += size;
      return 0;
    }
  }
  return damage(blob, fmt::format("at most the {} bytes of the file", size_max),
                fmt::format("{}", size));
}

Status Blobs::read_into(BlobId blob, MutableByteSpan bytes, std::uint64_t* damaged) {
  std::size_t filled = 0;
  const auto fill = [&](Rows& row) -> Status {
    std::uint64_t hash = 0;
    std::uint64_t size = 0;
    std::optional<ByteSpan> data;
    std::optional<std::uint64_t> slot;
    TRIBUTARY_TRY(row.read(hash, size, data, slot));
    if (!slot && !data) return damage(blob, "all its chunks", "a chunk without its row");
    if (!slot) size = data->size();
    if (size > bytes.size() - filled) return damage(blob, "its length", "more");
    const MutableByteSpan out = bytes.subspan(filled, size);
    if (!slot) {
      std::ranges::copy(*data, out.begin());
    } else if (Status status = read_large(blob, *slot, out); !status.ok()) {
      if (!damaged || status.code() != StatusCode::corrupt_data) return status;
    }
    filled += size;
    if (const std::uint64_t found = hash64(out); found != hash) {
      if (!damaged || !slot) {
        return damage(blob, fmt::format("hash {:016x} at byte {}", hash, filled - size),
                      fmt::format("{:016x}", found));
      }
      std::ranges::fill(out, std::uint8_t{0});
      *damaged += size;
    }
    return {};
  };
  TRIBUTARY_TRY(database_->each(
      large_.file
          ? "SELECT hash, bytes, data, slot FROM blob_chunks LEFT JOIN chunks USING (chunk) "
            "WHERE blob = ? ORDER BY place"
          : "SELECT hash, bytes, data, NULL FROM blob_chunks JOIN chunks USING (chunk) "
            "WHERE blob = ? ORDER BY place",
      fill, blob));
  if (filled == bytes.size()) return {};
  return damage(blob, fmt::format("{} bytes", bytes.size()), fmt::format("{}", filled));
}

Status Blobs::read_large(BlobId blob, std::uint64_t slot, MutableByteSpan out) {
  // Without a file, the tables have no slots.
  if (!large_.file) return damage(blob, "rows", "a slot");
  return large_.file->read(slot, out);
}

Status Blobs::damage(BlobId blob, std::string expected, std::string got) const {
  return Status(StatusCode::corrupt_data,
                {.what = fmt::format("database '{}', blob {}", database_->path(), blob),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "move the file away, and restore a copy or start with a new file"});
}

}  // namespace tributary
