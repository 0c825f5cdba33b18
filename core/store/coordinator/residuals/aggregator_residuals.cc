#include "core/store/coordinator/residuals/aggregator_residuals.h"

#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace tributary {

AggregatorResiduals::AggregatorResiduals(Database& database, const JournalOptions& options)
    : database_(database),
      path_(database.file() + std::string(kVectorsEnd)),
      vfs_(options.vfs),
      bytes_min_(large_chunk_bytes(options)),
      never_synced_(options.never_synced) {}

Status AggregatorResiduals::open() {
  TRIBUTARY_ASSIGN(const bool used, in_use());
  if (!used) return {};
  TRIBUTARY_TRY(open_file());
  return sync();
}

Status AggregatorResiduals::open_file() {
  if (file_) return {};
  TRIBUTARY_ASSIGN(std::unique_ptr<VectorFile> file, VectorFile::open(path_, vfs_));
  file_ = std::move(file);
  Status found = blobs().find_large_chunks();
  if (!found.ok()) file_.reset();
  return found;
}

Result<bool> AggregatorResiduals::in_use() {
  bool used = false;
  TRIBUTARY_TRY(
      database_
          .first("SELECT EXISTS (SELECT 1 FROM blob_chunks WHERE slot IS NOT NULL)", std::tie(used))
          .status());
  return used;
}

Result<std::optional<BlobId>> AggregatorResiduals::blob_of(std::uint64_t job) {
  std::optional<BlobId> blob;
  TRIBUTARY_TRY(
      database_.first("SELECT aggregator_residual FROM jobs WHERE job = ?", std::tie(blob), job)
          .status());
  return blob;
}

// The chunks that it replaces are free after the commit, so two residuals take turns in the file.
Status AggregatorResiduals::put(std::uint64_t job, const FloatVector& values) {
  const NewBlob value{.bytes = bytes_of(std::span<const float>(values))};
  if (value.bytes.size() >= bytes_min_) TRIBUTARY_TRY(open_file());
  TRIBUTARY_ASSIGN(const std::optional<BlobId> old_blob, blob_of(job));
  std::vector<BlobId> old_blobs;
  if (old_blob) old_blobs.push_back(*old_blob);
  TRIBUTARY_ASSIGN(const std::vector<BlobId> stored, blobs().exchange(old_blobs, {&value, 1}));
  return database_.run("UPDATE jobs SET aggregator_residual = ? WHERE job = ?", stored.front(),
                       job);
}

Status AggregatorResiduals::remove(std::uint64_t job) {
  TRIBUTARY_ASSIGN(const std::optional<BlobId> blob, blob_of(job));
  if (blob) TRIBUTARY_TRY(blobs().remove(*blob));
  return database_.run("UPDATE jobs SET aggregator_residual = NULL WHERE job = ?", job);
}

// A damaged chunk stays where it is; the next start reports it.
Status AggregatorResiduals::move_to_rows() {
  if (!file_) return {};
  Blobs all = blobs();
  return all.each_large_chunk([&](const Blobs::LargeChunk& chunk) { return all.put_in_row(chunk); })
      .status();
}

Result<SharedFloats> AggregatorResiduals::read(std::uint64_t job, std::uint64_t& values_damaged) {
  TRIBUTARY_ASSIGN(const std::optional<BlobId> blob, blob_of(job));
  if (!blob) return SharedFloats();
  std::uint64_t bytes_damaged = 0;
  TRIBUTARY_ASSIGN(SharedFloats values, blobs().read_floats(*blob, bytes_damaged));
  values_damaged += bytes_damaged / sizeof(float);
  return values;
}

Status AggregatorResiduals::sync() { return file_ && !never_synced_ ? file_->sync() : Status(); }

void AggregatorResiduals::delete_unused() {
  if (!vfs_.empty()) return;
  const Result<bool> used = in_use();
  if (!used.ok() || *used) return;
  file_.reset();
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace tributary
