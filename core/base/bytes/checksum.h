// XXH3, as fast as memory: against accidents, not against attackers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bytes/bytes.h"

namespace tributary {

std::uint64_t hash64(ByteSpan bytes);

// The low half of hash64.
std::uint32_t checksum32(ByteSpan bytes);

// The same values for bytes that come in pieces, however they are cut.
class Checksum {
 public:
  Checksum();
  void update(ByteSpan bytes);
  // Of everything so far; more may follow.
  std::uint32_t finish() const;
  std::uint64_t finish64() const;

 private:
  static constexpr std::size_t kStateBytes = 576;  // XXH3_state_t, checked in the .cc
  alignas(64) std::byte state_[kStateBytes];
};

}  // namespace tributary
