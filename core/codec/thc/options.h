// The parameters of a THC codec, after parsing.
//
// Plain values, already checked against the family's table. Copies are cheap.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/status.h"
#include "core/codec/spec.h"
#include "core/codec/thc/blocks/blocks.h"
#include "core/codec/thc/levels.h"

namespace tributary::thc {

// Size of blocks with `rate`, unless it is given. Smaller blocks gain more from unlike norms.
inline constexpr std::uint32_t kUsualRatedBlock = 256;

// Fields have the names and meanings of the parameters in families.cc; 0 means chosen by the
// planner.
struct Options {
  unsigned bits = 4;
  std::uint32_t granularity = 0;
  double p = 0;
  std::uint32_t block = 4096;
  bool uniform = false;
  bool rotated = true;
  bool minmax = false;  // the range of a block, else from its norm
  bool correlated = true;
  unsigned down_bits = 0;
  double rate = 0;  // mean bits of a level, shared by the blocks; 0: all have `bits`
  double down_weight = 1;

  static Options from(const Params& params);

  BlockLayout layout(std::size_t values) const { return {values, block}; }
  // Numbers of a block in stage 0.
  std::size_t range_numbers() const { return minmax ? 2 : 1; }

  // The request for a table in a round with `agents` planned members.
  TableRequest table_for(std::uint32_t agents) const {
    return {.bits = bits,
            .granularity = granularity,
            .p = p,
            .agents = agents,
            .down_bits = down_bits,
            .uniform = uniform};
  }
  Result<std::shared_ptr<const Levels>> levels_for(std::uint32_t agents) const {
    return thc::levels_for(table_for(agents));
  }
};

}  // namespace tributary::thc
