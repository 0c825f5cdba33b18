#include "core/sim/disk/disk_vfs.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>

#include "core/sim/disk/file_locks.h"

namespace tributary {
namespace {

// 2026-01-01 in SQLite's unit, milliseconds of the Julian day. Dates in a journal are only for
// people, and a simulation has no date.
constexpr sqlite3_int64 kJulianMs = 212'634'072'000'000;
constexpr int kPathBytesMax = 256;

// State of a file that all its open handles share. It exists while at least one handle is open.
struct OpenState {
  FileLocks locks;
  WalIndex wal_index;
};

// A path, resolved. `disk` is null if its machine is not mounted.
struct Place {
  VirtualDisk* disk = nullptr;
  std::string_view file;
};

// One open file.
struct Handle {
  VirtualDisk* disk;
  std::shared_ptr<VirtualFile> file;
  std::shared_ptr<OpenState> state;
  std::string delete_on_close;  // name of the file to remove; empty: it stays
  int level = SQLITE_LOCK_NONE;
};

// The memory that SQLite allocates for a file. It must begin with SQLite's own struct.
struct SqliteFile {
  sqlite3_file base;
  Handle* handle;
};

Handle& of(sqlite3_file* file) { return *reinterpret_cast<SqliteFile*>(file)->handle; }

// `failed` is SQLite's code for a failure of this operation.
int code_of(DiskOutcome outcome, int failed) {
  switch (outcome) {
    case DiskOutcome::done:
      return SQLITE_OK;
    case DiskOutcome::full:
      return SQLITE_FULL;
    case DiskOutcome::failed:
      break;
  }
  return failed;
}

// Releases all locks of the handle, whatever SQLite has released before.
int close_file(sqlite3_file* file) {
  Handle& handle = of(file);
  handle.state->wal_index.forget(&handle);
  handle.state->locks.lower(&handle, handle.level, SQLITE_LOCK_NONE);
  if (!handle.delete_on_close.empty()) handle.disk->remove(handle.delete_on_close, true);
  delete &handle;
  file->pMethods = nullptr;
  return SQLITE_OK;
}

// A machine without power can neither read nor write, until the simulation restarts it.
int read_file(sqlite3_file* file, void* out, int count, sqlite3_int64 offset) {
  Handle& handle = of(file);
  if (handle.disk->powerless()) return SQLITE_IOERR_READ;
  const auto requested = static_cast<std::size_t>(count);
  const MutableByteSpan bytes(static_cast<std::uint8_t*>(out), requested);
  const std::size_t got = handle.file->read(static_cast<std::uint64_t>(offset), bytes);
  if (got == requested) return SQLITE_OK;
  // SQLite expects zeros behind the end of the file
  std::ranges::fill(bytes.subspan(got), std::uint8_t{0});
  return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  Handle& handle = of(file);
  const ByteSpan span(static_cast<const std::uint8_t*>(bytes), static_cast<std::size_t>(count));
  return code_of(handle.disk->write(*handle.file, static_cast<std::uint64_t>(offset), span),
                 SQLITE_IOERR_WRITE);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  Handle& handle = of(file);
  return code_of(handle.disk->truncate(*handle.file, static_cast<std::uint64_t>(size)),
                 SQLITE_IOERR_TRUNCATE);
}

int sync_file(sqlite3_file* file, int) {
  Handle& handle = of(file);
  return code_of(handle.disk->sync(*handle.file), SQLITE_IOERR_FSYNC);
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(of(file).file->size());
  return SQLITE_OK;
}

int lock_file(sqlite3_file* file, int level) {
  Handle& handle = of(file);
  if (!handle.state->locks.raise(&handle, handle.level, level)) return SQLITE_BUSY;
  handle.level = std::max(handle.level, level);
  return SQLITE_OK;
}

int unlock_file(sqlite3_file* file, int level) {
  Handle& handle = of(file);
  handle.state->locks.lower(&handle, handle.level, level);
  handle.level = std::min(handle.level, level);
  return SQLITE_OK;
}

int check_reserved(sqlite3_file* file, int* out) {
  *out = of(file).state->locks.reserved() ? 1 : 0;
  return SQLITE_OK;
}

int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return 4096; }  // as SQLite's own VFS assumes
// The assumption that SQLite makes for real disks: an interrupted write does not damage the bytes
// around it.
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int shm_map(sqlite3_file* file, int index, int bytes, int extend, void volatile** out) {
  *out = of(file).state->wal_index.region(static_cast<std::size_t>(index),
                                          static_cast<std::size_t>(bytes), extend != 0);
  return SQLITE_OK;
}

int shm_lock(sqlite3_file* file, int first, int count, int flags) {
  Handle& handle = of(file);
  WalIndex& index = handle.state->wal_index;
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    index.unlock(&handle, first, count);
    return SQLITE_OK;
  }
  const bool taken = (flags & SQLITE_SHM_SHARED) != 0 ? index.lock_shared(&handle, first, count)
                                                      : index.lock_exclusive(&handle, first, count);
  return taken ? SQLITE_OK : SQLITE_BUSY;
}

void shm_barrier(sqlite3_file*) { std::atomic_thread_fence(std::memory_order_seq_cst); }

int shm_unmap(sqlite3_file* file, int) {
  Handle& handle = of(file);
  handle.state->wal_index.forget(&handle);
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kMethods = {
    // Version 2 has the shared memory of a WAL and no memory-mapped files: every access must pass
    // through the disk, so that it can fail.
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

}  // namespace

class DiskVfs::Impl {
 public:
  Impl() {
    // The counter for unique names is the only state that simulations share.
    static std::atomic<std::uint64_t> count{0};
    name_ = fmt::format("tributary-sim-{}", count.fetch_add(1));
    vfs_.iVersion = 2;
    vfs_.szOsFile = sizeof(SqliteFile);
    vfs_.mxPathname = kPathBytesMax;
    vfs_.zName = name_.c_str();
    vfs_.pAppData = this;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    vfs_.xAccess = access;
    vfs_.xFullPathname = full_path;
    vfs_.xRandomness = randomness;
    vfs_.xSleep = [](sqlite3_vfs*, int us) { return us; };  // a simulation never sleeps
    vfs_.xCurrentTime = [](sqlite3_vfs*, double* day) {
      *day = static_cast<double>(kJulianMs) / 86'400'000.0;
      return SQLITE_OK;
    };
    vfs_.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
    vfs_.xCurrentTimeInt64 = [](sqlite3_vfs*, sqlite3_int64* ms) {
      *ms = kJulianMs;
      return SQLITE_OK;
    };
    sqlite3_vfs_register(&vfs_, 0);
  }
  ~Impl() { sqlite3_vfs_unregister(&vfs_); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::string& name() const { return name_; }
  void mount(std::string_view machine, VirtualDisk& disk) {
    disks_.insert_or_assign(std::string(machine), &disk);
  }

 private:
  static Impl& of(sqlite3_vfs* vfs) { return *static_cast<Impl*>(vfs->pAppData); }

  // The path's parts after "/": the machine and the file.
  Place place(const char* path) const {
    const std::string_view text(path);
    if (!text.starts_with('/')) return {};
    const std::size_t slash = text.find('/', 1);
    if (slash == std::string_view::npos) return {};
    const auto found = disks_.find(text.substr(1, slash - 1));
    if (found == disks_.end()) return {};
    return {found->second, text.substr(slash + 1)};
  }

  // The shared state of a file, created for its first handle.
  std::shared_ptr<OpenState> state_of(const VirtualFile* file) {
    std::weak_ptr<OpenState>& known = open_[file];
    std::shared_ptr<OpenState> state = known.lock();
    if (!state) known = state = std::make_shared<OpenState>();
    return state;
  }

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* out, int flags,
                  int* out_flags) {
    auto* const file = reinterpret_cast<SqliteFile*>(out);
    file->base.pMethods = nullptr;
    Impl& self = of(vfs);
    auto handle = std::make_unique<Handle>();
    // SQLite opens temporary files without a name.
    if (path == nullptr) {
      handle->disk = &self.scratch_;
      handle->file = std::make_shared<VirtualFile>();
    } else {
      const Place place = self.place(path);
      if (place.disk == nullptr) return SQLITE_CANTOPEN;
      handle->disk = place.disk;
      handle->file = place.disk->open(place.file, (flags & SQLITE_OPEN_CREATE) != 0);
      if (!handle->file) return SQLITE_CANTOPEN;
      if ((flags & SQLITE_OPEN_DELETEONCLOSE) != 0) handle->delete_on_close = place.file;
    }
    handle->state = self.state_of(handle->file.get());
    file->handle = handle.release();
    file->base.pMethods = &kMethods;
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
    const Place place = of(vfs).place(path);
    if (place.disk == nullptr || !place.disk->exists(place.file)) return SQLITE_IOERR_DELETE_NOENT;
    return code_of(place.disk->remove(place.file, sync_folder != 0), SQLITE_IOERR_DELETE);
  }

  static int access(sqlite3_vfs* vfs, const char* path, int flags, int* out) {
    const Place place = of(vfs).place(path);
    *out = 0;
    if (place.disk == nullptr || place.disk->powerless()) return SQLITE_OK;
    // As in SQLite's own VFS, an empty file counts as missing.
    const auto file = place.disk->open(place.file, false);
    if (file) *out = (flags != SQLITE_ACCESS_EXISTS || file->size() > 0) ? 1 : 0;
    return SQLITE_OK;
  }

  // All paths are absolute already.
  static int full_path(sqlite3_vfs*, const char* path, int size, char* out) {
    const std::size_t length = std::strlen(path);
    if (length >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
    std::memcpy(out, path, length + 1);
    return SQLITE_OK;
  }

  // Deterministic, so that a run repeats exactly.
  static int randomness(sqlite3_vfs* vfs, int count, char* out) {
    SeededDraws& draws = of(vfs).random_;
    std::generate_n(out, count, [&] { return static_cast<char>(draws.below(256)); });
    return count;
  }

  std::string name_;
  sqlite3_vfs vfs_ = {};
  std::map<std::string, VirtualDisk*, std::less<>> disks_;
  std::map<const VirtualFile*, std::weak_ptr<OpenState>> open_;
  VirtualDisk scratch_{
      SeededDraws(0, DrawUse::disk, UINT64_MAX)};  // temporary files without a name
  SeededDraws random_{0, DrawUse::disk, UINT64_MAX - 1};
};

DiskVfs::DiskVfs() : impl_(std::make_unique<Impl>()) {}
DiskVfs::~DiskVfs() = default;
const std::string& DiskVfs::name() const { return impl_->name(); }
void DiskVfs::mount(std::string_view machine, VirtualDisk& disk) { impl_->mount(machine, disk); }

}  // namespace tributary
