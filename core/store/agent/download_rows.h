// The rows of an unfinished model download in an agent's journal.
//
// put(), remove() and remove_other_than() require a transaction of the caller. A run is cut into
// rows of at most kChunkBytes, each with its XXH3 hash. put() writes the run once and reads no
// other run. The time of remove() is proportional to the stored bytes.
//
// Used by the thread of the database, which must outlive the object.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/store/database/database.h"

namespace tributary {

// The tables, as a part of a schema.
constexpr std::string_view kDownloadTables = R"sql(
CREATE TABLE download (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  job INTEGER NOT NULL,
  hash INTEGER NOT NULL,             -- of the whole download
  bytes INTEGER NOT NULL             -- of the whole download
);
-- The first bytes of the download. Each row begins where the one before ends.
CREATE TABLE download_runs (
  begins_at INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,             -- XXH3 of the data
  data BLOB NOT NULL
);
)sql";

class DownloadRows {
 public:
  explicit DownloadRows(Database& database) : database_(&database) {}

  // Stores a run. Fails with invalid_argument, without writing, if a run with an offset above 0
  // belongs to another download than the stored one or does not begin at its end, if a run exceeds
  // the download, or if the download exceeds wire::kTransferBytesMax.
  Status put(const DownloadRecord& record);
  Status remove();
  // Removes the stored download if it belongs to another job.
  Status remove_other_than(std::uint64_t job);

  // Empty if no download is stored, or if its rows are damaged, have a gap or exceed the download:
  // the agent then downloads again. Fails only if worth_retrying(). Allocates no more than the rows
  // contain.
  Result<std::optional<StoredDownload>> restore();

 private:
  Status check_follows(const DownloadRecord& record);
  // Fails with corrupt_data if the rows are damaged.
  Result<std::optional<StoredDownload>> read();
  Status read_runs(StoredDownload& download);

  Database* database_;
};

}  // namespace tributary
