// The disk of a simulated machine. Its files are in memory and remember which writes are not
// synced. It simulates power cuts, failing writes and syncs, and a full disk. All randomness comes
// from its SeededDraws. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/sim/disk/file_bytes.h"
#include "core/sim/scenario/draws.h"

namespace tributary {

// Number of faults that have happened to a disk.
struct DiskTally {
  std::uint64_t failed_writes = 0;
  std::uint64_t failed_syncs = 0;
  std::uint64_t full = 0;
  std::uint64_t lost_writes = 0;  // lost in a power cut
  std::uint64_t torn_writes = 0;  // partly lost in a power cut
};

// `failed`: the operation failed or the power did. `full`: no space is left.
enum class DiskOutcome : std::uint8_t { done, failed, full };

// The faults that apply to every write and sync from now on. The first two are probabilities.
struct DiskFaults {
  double write_failure = 0;
  double sync_failure = 0;
  bool next_sync_fails = false;
  std::uint64_t capacity_bytes = UINT64_MAX;  // the disk is full beyond this size
  bool copies_on_write = false;               // overwriting needs free space too
};

// A sector is written completely or not at all, as on real disks.
inline constexpr std::uint64_t kSectorBytes = 512;

// A file and the operations on it since its last sync.
class VirtualFile {
 public:
  // Size in bytes.
  std::uint64_t size() const { return bytes_.size(); }
  // Returns the number of bytes that were read; fewer than requested at the end of the file.
  std::size_t read(std::uint64_t offset, MutableByteSpan out) const {
    return bytes_.read(offset, out);
  }
  // The next two operations can be lost in a power cut until sync().
  void write(std::uint64_t offset, ByteSpan bytes);
  void truncate(std::uint64_t size);
  void sync();
  bool synced() const { return synced_; }  // at least once

  // Loses some of the unsynced operations and tears others.
  void cut_power(SeededDraws& draws, DiskTally& tally);

 private:
  // Information to revert a write or a truncation.
  struct Undo {
    std::uint64_t offset;
    std::uint64_t length;  // length of a write
    std::uint64_t size_before;
    std::uint64_t before;  // index in replaced_ of the bytes that it replaced or cut off
    std::uint64_t before_bytes;
    bool is_write;
  };
  // Information to repeat a reverted operation.
  struct Redo {
    std::uint64_t offset;
    std::uint64_t size_after;
    Bytes after;
    bool is_write;
  };

  std::vector<Redo> take_back();
  void remember(std::uint64_t offset, std::uint64_t length, std::uint64_t count, bool is_write);

  FileBytes bytes_;
  std::vector<Undo> unsynced_;
  Bytes replaced_;  // bytes that the operations in unsynced_ replaced, in order
  bool synced_ = false;
};

// The files of one machine.
class VirtualDisk {
 public:
  explicit VirtualDisk(SeededDraws draws) : draws_(draws) {}

  // Returns null if the file does not exist and `create` is false, or if the disk has no power.
  std::shared_ptr<VirtualFile> open(std::string_view name, bool create);
  bool exists(std::string_view name) const;
  // Removes a file. Unless `durable`, a power cut may bring the file back until the next new file
  // is synced.
  DiskOutcome remove(std::string_view name, bool durable);

  // Operations on a file of this disk, with its faults. An operation that fails may have been
  // partly done.
  DiskOutcome write(VirtualFile& file, std::uint64_t offset, ByteSpan bytes);
  DiskOutcome truncate(VirtualFile& file, std::uint64_t size);
  DiskOutcome sync(VirtualFile& file);

  void set_faults(const DiskFaults& faults) { faults_ = faults; }
  const DiskFaults& faults() const { return faults_; }

  // Without power, every operation fails. A killed process must not change its files while its
  // objects are destroyed.
  bool powerless() const { return powerless_; }
  void power_off() { powerless_ = true; }
  // The power fails during the operation (write or sync) after this many more; that write is partly
  // done.
  void power_off_after(std::uint64_t operations) { operations_left_ = operations; }
  // Loses and tears unsynced operations, as in a power cut. A process that is only killed loses
  // none of them.
  void lose_unsynced();
  // The power is back, and no failure of it is planned.
  void power_on();

  std::uint64_t used_bytes() const;
  std::uint64_t operations() const { return operations_; }  // including failed ones
  const DiskTally& tally() const { return tally_; }

 private:
  // Whether the power fails during this operation.
  bool power_fails();

  SeededDraws draws_;
  std::map<std::string, std::shared_ptr<VirtualFile>, std::less<>> files_;
  // Removed files whose removal is not durable yet.
  std::map<std::string, std::shared_ptr<VirtualFile>, std::less<>> removed_;
  DiskFaults faults_;
  DiskTally tally_;
  bool powerless_ = false;
  std::uint64_t operations_ = 0;
  std::uint64_t operations_left_ = UINT64_MAX;
};

}  // namespace tributary
