// Measures the size and time of codecs on this machine: the inputs of a plan that depend on the
// machine and not on the network.
//
// A measurement blocks the caller and keeps one core busy; the caller should keep the result. No
// global state. Several threads may measure at once, at the price of wrong times.
#pragma once

#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/codec/sparse/gain.h"
#include "core/plan/inputs/inputs.h"

namespace tributary {

// The codecs that a plan may choose if the job does not name any. The plan adds the ratio.
inline constexpr std::string_view kPlannedCodecs[] = {
    "fp32",       "fp16",    "gcomp",          "thc:rate=1", "thc:rate=2",
    "thc:rate=4", "threelc", "threelc:s=1.75", "topk",       "star_topk"};

// The codec of a planned job's first rounds, if the job names none: of the codecs that lose little
// the one with the smallest payloads, because nothing is known of the links yet.
inline constexpr std::string_view kFirstPlannedCodec = "threelc";

// All codecs that a job may limit its plans to: those above, and kInNetworkCodec.
inline std::vector<std::string_view> plannable_codecs() {
  std::vector<std::string_view> all(std::begin(kPlannedCodecs), std::end(kPlannedCodecs));
  all.push_back(kInNetworkCodec);
  return all;
}

// Returns top_k and ar_top_k for Top-k and STAR-Topk, whose ratio a plan sets; fixed for all
// others.
PlanFamily family_of(std::string_view spec);

// The size of a measurement, and its cancellation.
struct PlanMeasureOptions {
  std::uint32_t agents = 4;
  std::uint32_t bucket_values = 1u << 16;
  double ratio = 0.01;  // ratio of the measurement, for codecs with a ratio
  // Called often; `false` ends the measurement with `cancelled`. Empty: no cancellation.
  std::function<bool()> go_on = {};
};

// Encodes, combines and decodes synthetic gradients on the calling thread and returns the times and
// sizes per value. Returns the codec's error if the spec is invalid. `clock` measures the times.
Result<PlanCodec> measure_plan_codec(std::string_view spec, const PlanMeasureOptions& options,
                                     const Clock& clock);

// Returns the points of the curve at the ratios that agents report (sparse::kGainRatios).
GainPoints gain_points_of(const sparse::GainCurve& curve);

// Returns PlanInputs::agreement for these gradients, with the first one's positions at `ratio`.
// Requires two or more gradients of equal length.
double agreement_of(std::span<const std::span<const float>> gradients, double ratio);

}  // namespace tributary
