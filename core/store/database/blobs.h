// Stores values of any size in chunks of bounded size. Each chunk has a hash, so damage is detected
// when a value is read.
//
// Chunks are rows of the database, or large ones are in a file beside it (VectorFile): a row is
// written to the log and copied into the database, a value in the file is written once.
//
// exchange() hashes every new value once and writes what has changed. Fails with the database's
// errors; corrupt_data names the blob. Not thread-safe, as its Database.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/store/database/database.h"
#include "core/store/database/vectors/vector_file.h"

namespace tributary {

// Number of a stored value. Numbers are unique among the values that exist at one time.
using BlobId = std::uint64_t;

constexpr std::size_t kChunkBytes = 1u << 20;

// The tables, as a part of a schema.
constexpr std::string_view kBlobTables = R"sql(
CREATE TABLE blobs (
  blob INTEGER PRIMARY KEY,
  bytes INTEGER NOT NULL
);
-- A blob is its chunks in the order of their places.
CREATE TABLE blob_chunks (
  blob INTEGER NOT NULL,
  place INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  hash INTEGER NOT NULL,             -- XXH3 of the chunk
  PRIMARY KEY (blob, place)
) WITHOUT ROWID;
CREATE TABLE chunks (
  chunk INTEGER PRIMARY KEY,
  data BLOB NOT NULL
);
)sql";

// The step that adds the file for large chunks: of these, `chunk` is 0, and `slot` is the offset in
// the file.
constexpr std::string_view kBlobSlots = "ALTER TABLE blob_chunks ADD COLUMN slot INTEGER;";

// A value to store; the bytes are borrowed for the duration of the call.
struct NewBlob {
  ByteSpan bytes;
  // Offset of this value in a larger one that contains it. Chunks are cut at the larger value's
  // boundaries, so that both can share chunks.
  std::uint64_t begins_at = 0;
};

// All calls that write require a transaction of the caller. The database and the file must outlive
// the object.
class Blobs {
 public:
  // A file for large chunks requires the tables of kBlobSlots. The caller ends its transactions
  // (VectorFile::committed(), rolled_back()), and syncs it.
  struct LargeChunks {
    VectorFile* file = nullptr;  // null: all chunks are rows
    std::uint64_t bytes_min = 0;
  };
  explicit Blobs(Database& database) : database_(&database) {}
  Blobs(Database& database, LargeChunks large) : database_(&database), large_(large) {}

  // Tells the file which of its bytes are in use. Call it once, before the first change.
  Status find_large_chunks();

  // A large chunk, read from the file.
  struct LargeChunk {
    BlobId blob = 0;
    std::uint64_t place = 0;
    Bytes data;
  };
  // Calls `chunk` with each large chunk; not with those that are damaged, which it counts in bytes.
  Result<std::uint64_t> each_large_chunk(const std::function<Status(LargeChunk&)>& chunk);
  // Makes a large chunk a row, so that it needs no file.
  Status put_in_row(const LargeChunk& chunk);

  // Removes the old blobs and adds new values in one step, and returns the new numbers in order.
  // Chunks with equal content, at whatever place, are moved and not written again; other rows
  // overwrite removed ones in place.
  Result<std::vector<BlobId>> exchange(std::span<const BlobId> old_blobs,
                                       std::span<const NewBlob> values);
  Result<BlobId> add(ByteSpan value);
  Status remove(BlobId blob);

  // Read a value. Each chunk is compared with its hash (corrupt_data). A damaged size cannot cause
  // an allocation beyond the size of the file.
  Result<std::shared_ptr<const Bytes>> read_bytes(BlobId blob);
  Result<std::shared_ptr<const FloatVector>> read_floats(BlobId blob);
  // As above, but large chunks that are damaged are zeros, and their bytes are added to `damaged`.
  // The value is empty if its size cannot be right.
  Result<std::shared_ptr<const Bytes>> read_bytes(BlobId blob, std::uint64_t& damaged);
  Result<std::shared_ptr<const FloatVector>> read_floats(BlobId blob, std::uint64_t& damaged);

 private:
  class Pool;
  struct Piece;

  Status dismantle(BlobId blob, Pool& pool);
  Status write(const Piece& piece);
  Status write_row(const Piece& piece, std::uint64_t& chunk);
  bool is_large(ByteSpan bytes) const;
  // `damaged` is null where damage is an error.
  Result<std::uint64_t> size_of(BlobId blob, std::uint64_t* damaged);
  Result<std::shared_ptr<const Bytes>> read_bytes(BlobId blob, std::uint64_t* damaged);
  Result<std::shared_ptr<const FloatVector>> read_floats(BlobId blob, std::uint64_t* damaged);
  Status read_into(BlobId blob, MutableByteSpan bytes, std::uint64_t* damaged);
  Status read_large(BlobId blob, std::uint64_t slot, MutableByteSpan out);
  Status damage(BlobId blob, std::string expected, std::string got) const;

  Database* database_;
  LargeChunks large_;
};

}  // namespace tributary
