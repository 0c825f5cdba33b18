// Who holds which lock on a database file: SQLite's five levels, and the eight locks of a WAL's
// index with its memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace tributary {

// One who opened the file.
using LockOwner = const void*;

class FileLocks {
 public:
  // Levels as SQLite numbers them: 0 none, 1 shared, 2 reserved, 3 pending, 4 exclusive. False:
  // another is in the way.
  bool raise(LockOwner owner, int from, int to);
  void lower(LockOwner owner, int from, int to);
  bool reserved() const { return reserved_ != nullptr; }

 private:
  int shared_ = 0;
  LockOwner reserved_ = nullptr;
  LockOwner pending_ = nullptr;
  LockOwner exclusive_ = nullptr;
};

class WalIndex {
 public:
  static constexpr int kLocks = 8;

  bool lock_shared(LockOwner owner, int first, int count);
  bool lock_exclusive(LockOwner owner, int first, int count);
  void unlock(LockOwner owner, int first, int count);
  void forget(LockOwner owner) { unlock(owner, 0, kLocks); }

  // Zeros at first; stays where it is. Null where it does not exist and `extend` is false.
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
