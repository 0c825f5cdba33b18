// The disk of a simulated machine: files in memory that remember which writes were not synced yet,
// and what a power cut makes of those. Also writes and syncs that fail, and a disk that is full.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/sim/scenario/draws.h"

namespace tributary {

// How often something happened to a disk.
struct DiskTally {
  std::uint64_t failed_writes = 0;
  std::uint64_t failed_syncs = 0;
  std::uint64_t full = 0;
  std::uint64_t lost_writes = 0;  // by a power cut
  std::uint64_t torn_writes = 0;  // of which a power cut left a part
};

enum class DiskOutcome : std::uint8_t { done, failed, full };

// What can go wrong with every write and sync, from now on.
struct DiskFaults {
  double write_failure = 0;
  double sync_failure = 0;
  bool next_sync_fails = false;
  std::uint64_t capacity_bytes = UINT64_MAX;
  bool copies_on_write = false;  // overwriting needs room too
};

// A sector is written whole or not at all.
inline constexpr std::uint64_t kSectorBytes = 512;

class VirtualFile {
 public:
  std::uint64_t size() const { return bytes_.size(); }
  // How much of `out` was filled; the rest is behind the end.
  std::size_t read(std::uint64_t offset, MutableByteSpan out) const;
  void write(std::uint64_t offset, ByteSpan bytes);
  void truncate(std::uint64_t size);
  void sync();
  bool synced() const { return synced_; }  // at least once

  // Some of what was not synced is lost, some torn.
  void cut_power(SeededDraws& draws, DiskTally& tally);

 private:
  // How to take back a write or a truncation.
  struct Undo {
    std::uint64_t offset;
    std::uint64_t length;  // of a write
    std::uint64_t size_before;
    std::uint64_t before;  // place in replaced_ of what it replaced or cut off
    std::uint64_t before_bytes;
    bool is_write;
  };
  struct Redo {
    std::uint64_t offset;
    std::uint64_t size_after;
    Bytes after;
    bool is_write;
  };

  std::vector<Redo> take_back();
  void put(std::uint64_t offset, ByteSpan bytes);
  void remember(std::uint64_t offset, std::uint64_t length, std::uint64_t count, bool is_write);

  Bytes bytes_;
  std::vector<Undo> unsynced_;
  std::vector<std::uint8_t> replaced_;  // by the writes in unsynced_, one after the other
  bool synced_ = false;
};

class VirtualDisk {
 public:
  explicit VirtualDisk(SeededDraws draws) : draws_(draws) {}

  // Null where there is none and `create` is false, or where there is no power.
  std::shared_ptr<VirtualFile> open(std::string_view name, bool create);
  bool exists(std::string_view name) const;
  // Without `durable` a power cut may bring the file back, until the next new file is synced.
  DiskOutcome remove(std::string_view name, bool durable);

  DiskOutcome write(VirtualFile& file, std::uint64_t offset, ByteSpan bytes);
  DiskOutcome truncate(VirtualFile& file, std::uint64_t size);
  DiskOutcome sync(VirtualFile& file);

  void set_faults(const DiskFaults& faults) { faults_ = faults; }
  const DiskFaults& faults() const { return faults_; }

  // Without power nothing can be read or written: a process that is dead must not put things in
  // order while its objects are taken down.
  bool powerless() const { return powerless_; }
  void power_off() { powerless_ = true; }
  // In the midst of the write or sync after so many more; a part of that write is done.
  void power_off_after(std::uint64_t operations) { operations_left_ = operations; }
  // What is not synced is lost or torn, as when power fails; a process that is killed alone leaves
  // all that it wrote.
  void lose_unsynced();
  void power_on();

  std::uint64_t used_bytes() const;
  std::uint64_t operations() const { return operations_; }
  const DiskTally& tally() const { return tally_; }

 private:
  // Whether the power goes with this operation.
  bool power_fails();

  SeededDraws draws_;
  std::map<std::string, std::shared_ptr<VirtualFile>, std::less<>> files_;
  std::map<std::string, std::shared_ptr<VirtualFile>, std::less<>> removed_;
  DiskFaults faults_;
  DiskTally tally_;
  bool powerless_ = false;
  std::uint64_t operations_ = 0;
  std::uint64_t operations_left_ = UINT64_MAX;
};

}  // namespace tributary
