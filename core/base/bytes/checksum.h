// XXH3 hashes, computed at memory speed. They detect accidents; they do not protect against
// attackers.
//
// The values are the same on every machine and for every version of the library. The functions are
// pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bytes/bytes.h"

namespace tributary {

// The 64-bit XXH3 hash with seed 0.
std::uint64_t hash64(ByteSpan bytes);

// The lower 32 bits of hash64().
std::uint32_t checksum32(ByteSpan bytes);

// Computes the same hashes for bytes that arrive in pieces of any size. Not thread-safe.
class Checksum {
 public:
  Checksum();
  void update(ByteSpan bytes);
  // The hash of all bytes so far. More bytes may follow.
  std::uint32_t finish() const;
  std::uint64_t finish64() const;

 private:
  static constexpr std::size_t kStateBytes = 576;  // sizeof(XXH3_state_t), checked in the .cc
  alignas(64) std::byte state_[kStateBytes];
};

}  // namespace tributary
