// The rows of an unfinished model download in an agent's journal.
//
// Contract: put(), remove() and remove_other_than() run inside a transaction of the caller's. A run
// is cut into rows of kChunkBytes at most, each with its XXH3. Cost: put() writes the run once and
// reads no other run. remove() takes time in proportion to the stored bytes.
//
// Threads: that of the database.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/store/database/database.h"

namespace tributary {

// The tables, to be part of a schema.
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

  // Fails with invalid_argument, and nothing written, if a run at an offset above 0 is of another
  // download than the stored one or does not begin where the stored runs end, and if a run goes
  // beyond the download or the download beyond wire::kTransferBytesMax.
  Status put(const DownloadRecord& record);
  Status remove();
  Status remove_other_than(std::uint64_t job);

  // Nothing if there is no download, or if its rows are damaged, have a gap or hold more than the
  // download. Fails only if worth_retrying(). Allocates what the rows hold.
  Result<std::optional<StoredDownload>> restore();

 private:
  Status check_follows(const DownloadRecord& record);
  // Fails with corrupt_data.
  Result<std::optional<StoredDownload>> read();
  Status read_runs(StoredDownload& download);

  Database* database_;
};

}  // namespace tributary
