// The locks on a database file in memory: SQLite's five levels, and the eight locks of a WAL index
// together with the index's shared memory. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace tributary {

// Identifies one open handle of the file.
using LockOwner = const void*;

// SQLite's locks on the database file.
class FileLocks {
 public:
  // Levels as SQLite numbers them: 0 none, 1 shared, 2 reserved, 3 pending, 4 exclusive. raise()
  // returns false if another owner's lock prevents it.
  bool raise(LockOwner owner, int from, int to);
  // Lowers the owner's lock; it never fails.
  void lower(LockOwner owner, int from, int to);
  bool reserved() const { return reserved_ != nullptr; }

 private:
  int shared_ = 0;
  LockOwner reserved_ = nullptr;
  LockOwner pending_ = nullptr;
  LockOwner exclusive_ = nullptr;
};

// The shared-memory index of a WAL.
class WalIndex {
 public:
  static constexpr int kLocks = 8;
  // Both take all of the locks from `first` on, or none. They return false if another owner's lock
  // prevents it.

  bool lock_shared(LockOwner owner, int first, int count);
  bool lock_exclusive(LockOwner owner, int first, int count);
  void unlock(LockOwner owner, int first, int count);
  void forget(LockOwner owner) { unlock(owner, 0, kLocks); }

  // A region begins as zeros and does not move. Returns null if it does not exist and `extend` is
  // false.
  void volatile* region(std::size_t index, std::size_t bytes, bool extend);

 private:
  struct Slot {
    std::vector<LockOwner> shared;
    LockOwner exclusive = nullptr;
  };
  std::array<Slot, kLocks> slots_;
  std::vector<std::unique_ptr<std::uint8_t[]>> regions_;
};

}  // namespace tributary
