// Stores values of any size in rows of bounded size. Each chunk has a hash, so damage is detected
// when a value is read.
//
// exchange() hashes every new value once and writes what has changed. Fails with the database's
// errors; corrupt_data names the blob. Not thread-safe, as its Database.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/store/database/database.h"

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

// A value to store; the bytes are borrowed for the duration of the call.
struct NewBlob {
  ByteSpan bytes;
  // Offset of this value in a larger one that contains it. Chunks are cut at the larger value's
  // boundaries, so that both can share chunks.
  std::uint64_t begins_at = 0;
};

// All calls that write require a transaction of the caller. The database must outlive the object.
class Blobs {
 public:
  explicit Blobs(Database& database) : database_(&database) {}

  // Removes the old blobs and adds new values in one step, and returns the new numbers in order.
  // Chunks with equal content, at whatever place, are moved and not written again; other chunks
  // overwrite removed ones in place.
  Result<std::vector<BlobId>> exchange(std::span<const BlobId> old_blobs,
                                       std::span<const NewBlob> values);
  Result<BlobId> add(ByteSpan value);
  Status remove(BlobId blob);

  // Read a value. Each chunk is compared with its hash (corrupt_data). A damaged size cannot cause
  // an allocation beyond the size of the file.
  Result<std::shared_ptr<const Bytes>> read_bytes(BlobId blob);
  Result<std::shared_ptr<const FloatVector>> read_floats(BlobId blob);

 private:
  class Pool;
  struct Piece;

  Status dismantle(BlobId blob, Pool& pool);
  Status write(const Piece& piece);
  Result<std::uint64_t> size_of(BlobId blob);
  Status read_into(BlobId blob, MutableByteSpan bytes);
  Status damaged(BlobId blob, std::string expected, std::string got) const;

  Database* database_;
};

}  // namespace tributary
