#include "core/store/database/vectors/vector_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/store/database/sqlite_status.h"
#include "core/store/database/vectors/private_file.h"

namespace tributary {
namespace {

// SQLite's own VFS cuts the length of an access to 17 bits.
constexpr std::size_t kAccessBytes = 64u << 10;

}  // namespace

Result<std::unique_ptr<VectorFile>> VectorFile::open(std::string path, const std::string& vfs) {
  sqlite3_vfs* const found = sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str());
  if (!found) return Status(StatusCode::not_found, {.what = "SQLite VFS", .got = vfs});
  if (vfs.empty()) create_private(path);
  std::unique_ptr<VectorFile> file(new VectorFile(std::move(path)));
  TRIBUTARY_TRY(file->open_with(*found, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  return file;
}

Result<std::unique_ptr<VectorFile>> VectorFile::open_to_read(std::string path) {
  std::unique_ptr<VectorFile> file(new VectorFile(std::move(path)));
  TRIBUTARY_TRY(file->open_with(*sqlite3_vfs_find(nullptr), SQLITE_OPEN_READONLY));
  return file;
}

// With this kind of file the VFS syncs the folder, too, and uses no locks.
Status VectorFile::open_with(sqlite3_vfs& vfs, int how) {
  memory_.resize((static_cast<std::size_t>(vfs.szOsFile) + 7) / 8);
  auto* const file = reinterpret_cast<sqlite3_file*>(memory_.data());
  errno = 0;
  const int code = vfs.xOpen(&vfs, path_.c_str(), file, how | SQLITE_OPEN_SUPER_JOURNAL, nullptr);
  if (file->pMethods) file_ = file;
  return code == SQLITE_OK ? Status() : error(code, "opening it");
}

VectorFile::~VectorFile() {
  if (file_) file_->pMethods->xClose(file_);
}

Status VectorFile::error(int code, const char* doing) const {
  return sqlite_status(nullptr, code, path_, doing);
}

Status VectorFile::use(std::vector<FileExtent> values) {
  std::optional<FileExtents> extents = FileExtents::around(std::move(values));
  if (!extents) {
    return Status(StatusCode::corrupt_data,
                  {.what = fmt::format("values in '{}'", path_),
                   .expected = "values beside one another",
                   .got = "values that overlap",
                   .remedy = "move the journal away, and restore a copy or start with a new one"});
  }
  extents_ = *std::move(extents);
  return {};
}

Result<FileExtent> VectorFile::add(ByteSpan value) {
  const FileExtent extent = extents_.take(value.size());
  added_.push_back(extent);
  synced_ = false;
  for (std::size_t done = 0; done < value.size();) {
    const std::size_t count = std::min(kAccessBytes, value.size() - done);
    errno = 0;
    const int code = file_->pMethods->xWrite(file_, value.data() + done, static_cast<int>(count),
                                             static_cast<sqlite3_int64>(extent.begins_at + done));
    if (code != SQLITE_OK) return error(code, "writing a value");
    done += count;
  }
  return extent;
}

Status VectorFile::sync() {
  if (synced_) return {};
  errno = 0;
  const int code = file_->pMethods->xSync(file_, SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) return error(code, "syncing it");
  synced_ = true;
  return {};
}

void VectorFile::committed() {
  added_.clear();
  give_back(removed_);
  give_back(kept_);
}

void VectorFile::rolled_back(const Status& status) {
  removed_.clear();
  if (status.code() == StatusCode::io_error) {
    kept_.insert(kept_.end(), added_.begin(), added_.end());
    added_.clear();
  }
  give_back(added_);
}

void VectorFile::give_back(std::vector<FileExtent>& extents) {
  for (const FileExtent& extent : extents) extents_.give_back(extent);
  extents.clear();
}

Status VectorFile::read(std::uint64_t begins_at, MutableByteSpan out) {
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t count = std::min(kAccessBytes, out.size() - done);
    errno = 0;
    const int code = file_->pMethods->xRead(file_, out.data() + done, static_cast<int>(count),
                                            static_cast<sqlite3_int64>(begins_at + done));
    if (code == SQLITE_IOERR_SHORT_READ) {
      return Status(StatusCode::corrupt_data,
                    {.what = fmt::format("value at byte {} of '{}'", begins_at, path_),
                     .expected = fmt::format("{} bytes", out.size()),
                     .got = "the end of the file"});
    }
    if (code != SQLITE_OK) return error(code, "reading a value");
    done += count;
  }
  return {};
}

std::uint64_t VectorFile::bytes() const {
  sqlite3_int64 bytes = 0;
  const int code = file_->pMethods->xFileSize(file_, &bytes);
  return code == SQLITE_OK ? static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace tributary
