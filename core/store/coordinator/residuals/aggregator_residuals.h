// The residuals of a coordinator's aggregators: the newest one of each job. The coordinator writes
// a whole residual in each round, so its large chunks are not in the database but in PATH-vectors
// beside it, where each is written once.
//
// When the journal is closed, they become rows of the database, and the file is deleted. So a
// closed journal is one file. Used by the thread of the database, which must outlive the object.
// Fails with the errors of Blobs and VectorFile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/store/database/blobs.h"
#include "core/store/database/journal.h"
#include "core/store/database/vectors/vector_file.h"

namespace tributary {

class AggregatorResiduals {
 public:
  AggregatorResiduals(Database& database, const JournalOptions& options);

  // Opens the file if rows refer to it, and makes durable what an earlier process has left.
  // Otherwise the file is opened by the first put() that needs it.
  Status open();

  // --- in a transaction of the caller (in_transaction() with file()) ---
  // Replaces the job's residual.
  Status put(std::uint64_t job, const FloatVector& values);
  Status remove(std::uint64_t job);
  // Moves all chunks of the file into the database.
  Status move_to_rows();

  // The residual of a job; null: none. Values of chunks that are damaged are zeros, and are counted
  // in `values_damaged`. Empty if nothing can be read of it.
  Result<SharedFloats> read(std::uint64_t job, std::uint64_t& values_damaged);
  Status sync();
  // Deletes the file if no row refers to it.
  void delete_unused();

  const std::unique_ptr<VectorFile>& file() const { return file_; }
  const std::string& path() const { return path_; }

 private:
  Blobs blobs() { return Blobs(database_, {.file = file_.get(), .bytes_min = bytes_min_}); }
  Status open_file();
  Result<std::optional<BlobId>> blob_of(std::uint64_t job);
  Result<bool> in_use();

  Database& database_;
  const std::string path_;
  const std::string vfs_;
  const std::uint64_t bytes_min_;
  const bool never_synced_;
  std::unique_ptr<VectorFile> file_;  // null: no residual has needed it
};

}  // namespace tributary
