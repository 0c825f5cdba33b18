#include "core/sim/disk/virtual_disk.h"

#include <algorithm>
#include <utility>

namespace tributary {

// --- VirtualFile ---------------------------------------------------------------------------------

// Records the state before an operation that may change up to `count` bytes from `offset` on.
void VirtualFile::remember(std::uint64_t offset, std::uint64_t length, std::uint64_t count,
                           bool is_write) {
  const std::uint64_t available = offset < bytes_.size() ? bytes_.size() - offset : 0;
  const std::uint64_t kept = std::min(count, available);
  unsynced_.push_back({offset, length, bytes_.size(), replaced_.size(), kept, is_write});
  if (kept == 0) return;
  replaced_.resize(replaced_.size() + kept);
  bytes_.read(offset, MutableByteSpan(replaced_).last(kept));
}

void VirtualFile::write(std::uint64_t offset, ByteSpan bytes) {
  remember(offset, bytes.size(), bytes.size(), true);
  bytes_.write(offset, bytes);
}

// A truncation can lose bytes up to the end of the file, so all of them are recorded.
void VirtualFile::truncate(std::uint64_t size) {
  remember(size, 0, UINT64_MAX, false);
  bytes_.resize(size);
}

// The memory is released, because a thousand disks would each keep the most that they ever used.
void VirtualFile::sync() {
  unsynced_ = std::vector<Undo>();
  replaced_ = Bytes();
  synced_ = true;
}

// The operations are reverted in reverse order, because each record describes the state just before
// its operation.
// Reverts the file to its last synced state and returns the operations that were reverted.
std::vector<VirtualFile::Redo> VirtualFile::take_back() {
  std::vector<Redo> redos(unsynced_.size());
  for (std::size_t i = unsynced_.size(); i-- > 0;) {
    const Undo& undo = unsynced_[i];
    Redo& redo = redos[i];
    redo = {undo.offset, bytes_.size(), {}, undo.is_write};
    redo.after.resize(undo.length);
    read(undo.offset, redo.after);
    bytes_.resize(undo.size_before);
    if (undo.before_bytes == 0) continue;
    bytes_.write(undo.offset, ByteSpan(replaced_).subspan(undo.before, undo.before_bytes));
  }
  unsynced_.clear();
  replaced_.clear();
  return redos;
}

void VirtualFile::cut_power(SeededDraws& draws, DiskTally& tally) {
  const std::vector<Redo> redos = take_back();
  // A disk with a queue can lose all operations, all after some sector of some write, or any
  // sectors in any order.
  enum { kNothing, kPrefix, kAny };
  const std::uint64_t manner = draws.below(3);
  // Number of operations that survive completely.
  const std::size_t whole = manner == kPrefix ? draws.below(redos.size() + 1) : 0;
  for (std::size_t i = 0; i < redos.size(); ++i) {
    const Redo& redo = redos[i];
    if (!redo.is_write) {
      if (i < whole || (manner == kAny && draws.chance(0.5))) {
        bytes_.resize(redo.size_after);
      }
      continue;
    }
    std::uint64_t kept = 0;
    bool cut = false;
    for (std::uint64_t at = 0; at < redo.after.size();) {
      const std::uint64_t to_boundary = kSectorBytes - (redo.offset + at) % kSectorBytes;
      const std::uint64_t count = std::min<std::uint64_t>(to_boundary, redo.after.size() - at);
      bool keep = i < whole;
      if (manner == kPrefix && i == whole && !cut) {
        keep = draws.chance(0.7);
        cut = !keep;
      }
      if (manner == kAny) keep = draws.chance(0.5);
      if (keep) {
        bytes_.write(redo.offset + at, ByteSpan(redo.after).subspan(at, count));
        kept += count;
      }
      at += count;
    }
    if (kept == 0) {
      ++tally.lost_writes;
    } else if (kept < redo.after.size()) {
      ++tally.torn_writes;
    }
  }
  synced_ = true;  // the remaining content is on the disk
}

// --- VirtualDisk ---------------------------------------------------------------------------------

std::shared_ptr<VirtualFile> VirtualDisk::open(std::string_view name, bool create) {
  if (powerless_) return nullptr;
  const auto found = files_.find(name);
  if (found != files_.end()) return found->second;
  if (!create) return nullptr;
  return files_.emplace(std::string(name), std::make_shared<VirtualFile>()).first->second;
}

bool VirtualDisk::exists(std::string_view name) const { return files_.contains(name); }

// A removed file that was synced stays in removed_ until the removal is durable.
DiskOutcome VirtualDisk::remove(std::string_view name, bool durable) {
  if (powerless_ || power_fails()) return DiskOutcome::failed;
  const auto found = files_.find(name);
  if (found == files_.end()) return DiskOutcome::done;
  if (!durable && found->second->synced()) removed_[std::string(name)] = found->second;
  files_.erase(found);
  return DiskOutcome::done;
}

// Counts the operation and ends the power if it is the planned one.
bool VirtualDisk::power_fails() {
  ++operations_;
  if (operations_left_ == UINT64_MAX) return false;
  if (operations_left_-- > 0) return false;
  powerless_ = true;
  operations_left_ = UINT64_MAX;
  return true;
}

// A write that fails, or during which the power fails, may leave any part of its bytes.
DiskOutcome VirtualDisk::write(VirtualFile& file, std::uint64_t offset, ByteSpan bytes) {
  if (powerless_) return DiskOutcome::failed;
  const auto write_part = [&] { file.write(offset, bytes.first(draws_.below(bytes.size() + 1))); };
  if (power_fails()) {
    write_part();
    return DiskOutcome::failed;
  }
  if (draws_.chance(faults_.write_failure)) {
    ++tally_.failed_writes;
    write_part();
    return DiskOutcome::failed;
  }
  if (faults_.capacity_bytes != UINT64_MAX) {
    const std::uint64_t end = offset + bytes.size();
    const std::uint64_t growth = end > file.size() ? end - file.size() : 0;
    const std::uint64_t needed = faults_.copies_on_write ? bytes.size() : growth;
    if (needed > 0 && used_bytes() + needed > faults_.capacity_bytes) {
      ++tally_.full;
      return DiskOutcome::full;
    }
  }
  file.write(offset, bytes);
  return DiskOutcome::done;
}

DiskOutcome VirtualDisk::truncate(VirtualFile& file, std::uint64_t size) {
  if (powerless_ || power_fails()) return DiskOutcome::failed;
  file.truncate(size);
  return DiskOutcome::done;
}

DiskOutcome VirtualDisk::sync(VirtualFile& file) {
  if (powerless_ || power_fails()) return DiskOutcome::failed;
  if (std::exchange(faults_.next_sync_fails, false) || draws_.chance(faults_.sync_failure)) {
    ++tally_.failed_syncs;
    return DiskOutcome::failed;
  }
  // SQLite's own VFS syncs the folder with a new file's first sync, which makes earlier removals
  // durable.
  if (!file.synced()) removed_.clear();
  file.sync();
  return DiskOutcome::done;
}

// A file that was never synced may disappear, and a removed file may return.
void VirtualDisk::lose_unsynced() {
  for (auto& [name, file] : removed_) {
    if (draws_.chance(0.5)) files_.insert_or_assign(name, file);
  }
  removed_.clear();
  for (auto it = files_.begin(); it != files_.end();) {
    const bool gone = !it->second->synced() && draws_.chance(0.5);
    if (!gone) it->second->cut_power(draws_, tally_);
    it = gone ? files_.erase(it) : std::next(it);
  }
}

void VirtualDisk::power_on() {
  powerless_ = false;
  operations_left_ = UINT64_MAX;
}

std::uint64_t VirtualDisk::used_bytes() const {
  std::uint64_t used = 0;
  for (const auto& [name, file] : files_) used += file->size();
  return used;
}

}  // namespace tributary
