// Measures the sizes and times of a codec's stages on this machine. It encodes synthetic gradients,
// where stage_sizes.h uses formulas.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/cost/exchange_cost.h"

namespace tributary {

// Frame before every payload among peers, in bytes (docs/wire.md).
inline constexpr double kPeerFrameBytes = 168;

// Per bucket and agent; bytes include frames.
struct MeasuredStages {
  std::vector<StagePayload> stages;
  // Seconds to decode a bucket on one core.
  double decode_s = 0;
  // Relative squared error of the decoded mean. With error feedback it is the error of the sum over
  // all rounds, because values that are sent in a later round are late but not lost. Without error
  // feedback it is the error of one round, whose noise remains.
  double nmse = 0;
};

// Number of rounds of a measurement, with error feedback if the codec contracts; fewer if there are
// many values. Payload sizes converge in them. After twenty rounds, 3LC has transmitted 76 to 95 %
// of captured gradients, and only 6 to 32 % after one; real training treats it like 86 %
// (docs/planner.md).
inline constexpr std::uint32_t kMeasuredRounds = 20;

// Sums of more agents than this have the same size and cost per agent, so no more are measured.
inline constexpr std::uint32_t kMeasuredAgentsMax = 16;

// Number of buckets of a measurement. A cache holds only some of them, as in a large model; a
// single bucket would stay in the cache and seem faster.
inline constexpr std::uint64_t kMeasuredBuckets = 8;

// Measures on one core and blocks meanwhile. `agents`, `bucket_values` and `buckets` are at least
// 1; large ones are reduced to bound memory and time. `go_on` is called often; if it returns false,
// the result is `cancelled`.
Result<MeasuredStages> measure_stages(const Codec& codec, std::uint32_t agents,
                                      std::uint32_t bucket_values, const Clock& clock,
                                      const std::function<bool()>& go_on = {},
                                      std::uint64_t buckets = kMeasuredBuckets);

}  // namespace tributary
