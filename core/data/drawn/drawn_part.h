// Addresses of the random draws of drawn data (core/base/random.h).
//
// Pure. The same seed gives the same data set on every machine, so that agents need no files.
#pragma once

#include <cstdint>

#include "core/base/random.h"
#include "core/data/formats/open.h"

namespace tributary {

// Kinds of drawn data. Their numbers are part of the draws' addresses: append new kinds, never
// reorder them.
enum class DrawnKind : std::uint32_t { digits, shapes, text };

// The address of picture or chapter `number`. Train and test have different buckets, so they never
// share a draw.
inline DrawAddress drawn_address(std::uint64_t seed, DrawnKind kind, DataPart part,
                                 std::uint32_t number) {
  return {.job_seed = seed,
          .round = number,
          .bucket = 2 * static_cast<std::uint32_t>(kind) + (part == DataPart::test ? 1 : 0),
          .purpose = DrawPurpose::synthetic_data};
}

}  // namespace tributary
