// Counts of one committed round that every reader of a run shows: its contributors, and how often
// the whole update would have been sent as float32.
//
// Pure. The record may be from a hostile file: indices beyond the lists are ignored, and members
// beyond RoundRecord::members are not counted.
#pragma once

#include <cstdint>
#include <vector>

#include "core/round/common/machine/bitmap.h"
#include "core/round/common/machine/records.h"

namespace tributary {

struct RoundCounts {
  Bitmap contributors;  // members with at least one bucket in the result
  // Number of dense updates up and down. A bucket without a result counts as not sent, and so do
  // members that did not contribute to a bucket. All buckets count as equally large, so the value
  // is exact if buckets are equally large or have the same contributors.
  double dense_updates_up = 0;
  double dense_updates_down = 0;
};

RoundCounts count_round(std::uint32_t members, std::uint32_t buckets,
                        const std::vector<OutcomeRecord>& outcomes,
                        const std::vector<ContributorSetRecord>& sets);

}  // namespace tributary
