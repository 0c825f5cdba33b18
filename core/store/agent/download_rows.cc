#include "core/store/agent/download_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/store/database/blobs.h"
#include "core/store/database/restored.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

Status run_refused(const DownloadRecord& record, std::string expected, std::string got) {
  return Status(StatusCode::invalid_argument,
                {.what = fmt::format("run of a download of job {}", record.job),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "store the download again from offset 0"});
}

std::string text_of(std::uint64_t job, std::uint64_t hash, std::uint64_t bytes) {
  return fmt::format("job {}, hash {:016x}, {} bytes", job, hash, bytes);
}

// The subtraction cannot overflow, because the offset has been compared first.
Status check_size(const DownloadRecord& record, std::uint64_t run_bytes) {
  if (record.bytes > wire::kTransferBytesMax) {
    return run_refused(record,
                       fmt::format("a download of at most {} bytes", wire::kTransferBytesMax),
                       fmt::format("{}", record.bytes));
  }
  if (record.offset <= record.bytes && run_bytes <= record.bytes - record.offset) return {};
  return run_refused(record, fmt::format("a run that ends at byte {} at most", record.bytes),
                     fmt::format("{} bytes at offset {}", run_bytes, record.offset));
}

}  // namespace

// A run with offset 0 begins a new download and discards the stored one.
Status DownloadRows::put(const DownloadRecord& record) {
  ByteSpan rest = record.data ? ByteSpan(*record.data) : ByteSpan();
  TRIBUTARY_TRY(check_size(record, rest.size()));
  if (record.offset > 0) {
    TRIBUTARY_TRY(check_follows(record));
  } else {
    TRIBUTARY_TRY(remove());
    TRIBUTARY_TRY(database_->run("INSERT INTO download (one, job, hash, bytes) VALUES (1, ?, ?, ?)",
                                 record.job, record.hash, record.bytes));
  }
  // Rows have at most kChunkBytes, each with its own hash, so damage costs only the download and is
  // found before the model is used.
  std::uint64_t begins_at = record.offset;
  while (!rest.empty()) {
    const ByteSpan row = rest.first(std::min(rest.size(), kChunkBytes));
    TRIBUTARY_TRY(
        database_->run("INSERT INTO download_runs (begins_at, hash, data) VALUES (?, ?, ?)",
                       begins_at, hash64(row), row));
    begins_at += row.size();
    rest = rest.subspan(row.size());
  }
  return {};
}

// The end of the stored runs is computed from the last row alone.
Status DownloadRows::check_follows(const DownloadRecord& record) {
  std::uint64_t job = 0;
  std::uint64_t hash = 0;
  std::uint64_t bytes = 0;
  TRIBUTARY_ASSIGN(const bool found, database_->first("SELECT job, hash, bytes FROM download",
                                                      std::tie(job, hash, bytes)));
  if (!found || job != record.job || hash != record.hash || bytes != record.bytes) {
    return run_refused(record, found ? text_of(job, hash, bytes) : "an earlier run at offset 0",
                       found ? text_of(record.job, record.hash, record.bytes) : "none");
  }
  std::uint64_t end = 0;
  TRIBUTARY_TRY(database_
                    ->first("SELECT begins_at + length(data) FROM download_runs "
                            "ORDER BY begins_at DESC LIMIT 1",
                            std::tie(end))
                    .status());
  if (record.offset == end) return {};
  return run_refused(record, fmt::format("offset {}", end),
                     fmt::format("offset {}", record.offset));
}

Status DownloadRows::remove() {
  TRIBUTARY_TRY(database_->run("DELETE FROM download"));
  return database_->run("DELETE FROM download_runs");
}

Status DownloadRows::remove_other_than(std::uint64_t job) {
  std::uint64_t stored = 0;
  TRIBUTARY_ASSIGN(const bool found,
                   database_->first("SELECT job FROM download", std::tie(stored)));
  return found && stored != job ? remove() : Status();
}

// --- restoring ---------------------------------------------------------------------------------

Result<std::optional<StoredDownload>> DownloadRows::restore() {
  Result<std::optional<StoredDownload>> read = this->read();
  // A damaged download is no reason to refuse the start: it is dropped, and the coordinator sends
  // the model again.
  if (read.ok() || worth_retrying(read.status())) return read;
  return std::optional<StoredDownload>();
}

Result<std::optional<StoredDownload>> DownloadRows::read() {
  StoredDownload download;
  TRIBUTARY_ASSIGN(const bool found,
                   database_->first("SELECT job, hash, bytes FROM download",
                                    std::tie(download.job, download.hash, download.bytes)));
  if (!found) return std::optional<StoredDownload>();
  if (download.bytes > wire::kTransferBytesMax) {
    return damaged_journal(database_->path(), "download",
                           fmt::format("at most {} bytes", wire::kTransferBytesMax),
                           fmt::format("{}", download.bytes));
  }
  TRIBUTARY_TRY(read_runs(download));
  return std::optional(std::move(download));
}

// The sum of the lengths is checked before memory is reserved.
Status DownloadRows::read_runs(StoredDownload& download) {
  std::uint64_t stored = 0;
  TRIBUTARY_TRY(
      database_->first("SELECT coalesce(sum(length(data)), 0) FROM download_runs", std::tie(stored))
          .status());
  if (stored > download.bytes || stored > database_->file_bytes()) {
    return damaged_journal(database_->path(), "download",
                           fmt::format("at most {} bytes stored", download.bytes),
                           fmt::format("{}", stored));
  }
  Bytes& received = download.received;
  received.reserve(static_cast<std::size_t>(stored));
  const auto add = [&](Rows& row) -> Status {
    std::uint64_t begins_at = 0;
    std::uint64_t hash = 0;
    ByteSpan data;
    TRIBUTARY_TRY(row.read(begins_at, hash, data));
    if (begins_at != received.size() || data.size() > stored - received.size() ||
        hash64(data) != hash) {
      return damaged_journal(database_->path(), "download",
                             fmt::format("an intact run at offset {}", received.size()),
                             fmt::format("{} bytes at offset {}", data.size(), begins_at));
    }
    received.insert(received.end(), data.begin(), data.end());
    return {};
  };
  return database_->each("SELECT begins_at, hash, data FROM download_runs ORDER BY begins_at", add);
}

}  // namespace tributary
