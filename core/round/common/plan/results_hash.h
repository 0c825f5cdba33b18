// One hash of all results of an exchange among peers. Every member reports it
// (Report.results_hash), and the coordinator compares it with the results that it received. Not
// thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/base/bytes/checksum.h"
#include "core/round/common/machine/records.h"

namespace tributary {

class ResultsHash {
 public:
  // Adds the combined payloads of all stages of the next bucket.
  void add(std::span<const SharedBytes> combined) {
    for (const SharedBytes& stage : combined) {
      const std::uint64_t hash = hash64(*stage);
      checksum_.update({reinterpret_cast<const std::uint8_t*>(&hash), sizeof(hash)});
    }
  }
  // Never 0, because 0 means that a report has no hash.
  std::uint64_t finish() const { return std::max<std::uint64_t>(checksum_.finish64(), 1); }

 private:
  Checksum checksum_;
};

}  // namespace tributary
