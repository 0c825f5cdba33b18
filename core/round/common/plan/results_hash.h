// What an exchange among peers came to, in one number: all members say it, and the coordinator
// compares it with what it was given (Report.results_hash).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/base/bytes/checksum.h"
#include "core/round/common/machine/records.h"

namespace tributary {

class ResultsHash {
 public:
  // Of the next bucket: what each of its stages came to.
  void add(std::span<const SharedBytes> combined) {
    for (const SharedBytes& stage : combined) {
      const std::uint64_t hash = hash64(*stage);
      checksum_.update({reinterpret_cast<const std::uint8_t*>(&hash), sizeof(hash)});
    }
  }
  // Never 0, which says that there is none.
  std::uint64_t finish() const { return std::max<std::uint64_t>(checksum_.finish64(), 1); }

 private:
  Checksum checksum_;
};

}  // namespace tributary
