// What a codec's stages weigh and how long they take, by doing it on this machine: the codec's own
// payloads of made-up gradients, instead of the formulas of stage_sizes.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/cost/exchange_cost.h"

namespace tributary {

inline constexpr double kPeerFrameBytes = 168;  // before every payload among peers (docs/wire.md)

// Of one bucket and agent, frames included.
struct MeasuredStages {
  std::vector<StagePayload> stages;
  double decode_s = 0;
  // Of the decoded mean. With error feedback, of what all rounds together should have brought: what
  // it brings later is late and not lost. Without it of one round, whose noise stays.
  double nmse = 0;
};

// A codec is tried for so many rounds, with error feedback where it contracts; fewer where there
// are many values. What its payloads weigh settles in them; and of what 3LC brings of captured
// gradients 76 to 95 % are there after twenty, where 6 to 32 % are at once: real training takes it
// for 86 % (docs/planner.md).
inline constexpr std::uint32_t kMeasuredRounds = 20;

// Sums of more agents than this many are as large and as costly for each as those of this many.
inline constexpr std::uint32_t kMeasuredAgentsMax = 16;

// Of many buckets a cache holds only some, as of a large model's; of one it takes less long.
inline constexpr std::uint64_t kMeasuredBuckets = 8;

// On one core. `agents`, `bucket_values` and `buckets` are one or more. `go_on` is asked often, and
// ends it with `cancelled` where it says no.
Result<MeasuredStages> measure_stages(const Codec& codec, std::uint32_t agents,
                                      std::uint32_t bucket_values, const Clock& clock,
                                      const std::function<bool()>& go_on = {},
                                      std::uint64_t buckets = kMeasuredBuckets);

}  // namespace tributary
