// Values of any size, in rows of bounded size.
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

// The number of a stored value.
using BlobId = std::uint64_t;

constexpr std::size_t kChunkBytes = 1u << 20;

// The tables, to be part of a schema.
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

struct NewBlob {
  ByteSpan bytes;
  // Of which it is a part: chunks are cut where that one's would be, so that they can be the same.
  std::uint64_t begins_at = 0;
};

// Inside a transaction of the caller's.
class Blobs {
 public:
  explicit Blobs(Database& database) : database_(&database) {}

  // Removes some and adds others in one go, so that what is the same in both is not written again:
  // a chunk of a new value that an old one holds too, at whatever place, changes its owner, and the
  // others overwrite what is there. Gives the new ones' numbers, in their order.
  Result<std::vector<BlobId>> exchange(std::span<const BlobId> old_blobs,
                                       std::span<const NewBlob> values);
  Result<BlobId> add(ByteSpan value);
  Status remove(BlobId blob);

  // Each chunk is checked against its hash; nothing is allocated for more than the file holds.
  Result<std::shared_ptr<const Bytes>> read_bytes(BlobId blob);
  Result<std::shared_ptr<const FloatVector>> read_floats(BlobId blob);

 private:
  class Pool;
  struct Piece;

  Status take_apart(BlobId blob, Pool& pool);
  Status write(const Piece& piece);
  Result<std::uint64_t> size_of(BlobId blob);
  Status read_into(BlobId blob, MutableByteSpan bytes);
  Status damaged(BlobId blob, std::string expected, std::string got) const;

  Database* database_;
};

}  // namespace tributary
