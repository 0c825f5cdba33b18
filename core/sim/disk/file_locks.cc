#include "core/sim/disk/file_locks.h"

#include <algorithm>

namespace tributary {
namespace {

constexpr int kNone = 0;
constexpr int kShared = 1;
constexpr int kReserved = 2;
constexpr int kExclusive = 4;

// Whether another owner holds the lock.
bool other(LockOwner held, LockOwner owner) { return held != nullptr && held != owner; }

}  // namespace

bool FileLocks::raise(LockOwner owner, int from, int to) {
  if (from >= to) return true;
  if (to == kShared) {  // readers are refused while a writer waits or writes
    if (pending_ != nullptr || exclusive_ != nullptr) return false;
    ++shared_;
    return true;
  }
  // One writer at a time: reserved lets readers go on, pending admits no new ones, exclusive waits
  // until all others have left.
  if (other(reserved_, owner) || other(pending_, owner) || other(exclusive_, owner)) return false;
  reserved_ = owner;
  if (to == kReserved) return true;
  pending_ = owner;
  if (to < kExclusive) return true;
  if (shared_ > 1) return false;  // the lock stays pending, so that no new reader is admitted
  exclusive_ = owner;
  return true;
}

void FileLocks::lower(LockOwner owner, int from, int to) {
  if (from <= to) return;
  if (to <= kShared) {
    if (reserved_ == owner) reserved_ = nullptr;
    if (pending_ == owner) pending_ = nullptr;
    if (exclusive_ == owner) exclusive_ = nullptr;
  }
  if (to == kNone && from >= kShared) --shared_;
}

// Checks all slots before it takes any, so that a refused call changes nothing.
bool WalIndex::lock_shared(LockOwner owner, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    if (other(slots_[static_cast<std::size_t>(i)].exclusive, owner)) return false;
  }
  for (int i = first; i < first + count; ++i) {
    auto& shared = slots_[static_cast<std::size_t>(i)].shared;
    if (std::ranges::find(shared, owner) == shared.end()) shared.push_back(owner);
  }
  return true;
}

bool WalIndex::lock_exclusive(LockOwner owner, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    const Slot& slot = slots_[static_cast<std::size_t>(i)];
    if (other(slot.exclusive, owner)) return false;
    if (std::ranges::any_of(slot.shared, [&](LockOwner held) { return held != owner; })) {
      return false;
    }
  }
  for (int i = first; i < first + count; ++i) {
    slots_[static_cast<std::size_t>(i)].exclusive = owner;
  }
  return true;
}

void WalIndex::unlock(LockOwner owner, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    Slot& slot = slots_[static_cast<std::size_t>(i)];
    std::erase(slot.shared, owner);
    if (slot.exclusive == owner) slot.exclusive = nullptr;
  }
}

void volatile* WalIndex::region(std::size_t index, std::size_t bytes, bool extend) {
  while (regions_.size() <= index) {
    if (!extend) return nullptr;
    regions_.push_back(std::make_unique<std::uint8_t[]>(bytes));
  }
  return regions_[index].get();
}

}  // namespace tributary
