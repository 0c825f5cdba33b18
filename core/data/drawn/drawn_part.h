// Where the draws of drawn data come from.
#pragma once

#include <cstdint>

#include "core/base/random.h"
#include "core/data/formats/open.h"

namespace tributary {

// The numbers are part of the data: append, never reorder.
enum class DrawnKind : std::uint32_t { digits, shapes, text };

// Train and test never share a draw.
inline DrawAddress drawn_address(std::uint64_t seed, DrawnKind kind, DataPart part,
                                 std::uint32_t number) {
  return {.job_seed = seed,
          .round = number,
          .bucket = 2 * static_cast<std::uint32_t>(kind) + (part == DataPart::test ? 1 : 0),
          .purpose = DrawPurpose::synthetic_data};
}

}  // namespace tributary
