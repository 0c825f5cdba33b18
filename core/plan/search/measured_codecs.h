// What codecs weigh and cost here, by trying them: the part of a plan's inputs that depends on the
// machine and not on the network.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/codec/sparse/gain.h"
#include "core/plan/inputs/inputs.h"

namespace tributary {

// Among which a plan chooses where a job does not say otherwise. Of a codec with a ratio the plan
// says the ratio.
inline constexpr std::string_view kPlannedCodecs[] = {
    "fp32", "fp16", "gcomp", "thc:bits=4", "threelc", "threelc:s=1.75", "topk", "star_topk"};

// Top-k and STAR-Topk have ratios that a plan may set; all others are taken as they are.
PlanFamily family_of(std::string_view spec);

struct PlanMeasureOptions {
  std::uint32_t agents = 4;
  std::uint32_t bucket_values = 1u << 16;
  double ratio = 0.01;  // at which codecs with a ratio are tried
  // Asked often; false ends it with `cancelled`. Empty: nobody asks.
  std::function<bool()> go_on = {};
};

// On one core, with made-up gradients.
Result<PlanCodec> measure_plan_codec(std::string_view spec, const PlanMeasureOptions& options,
                                     const Clock& clock);

// At the shares that agents report: sparse::kGainRatios.
GainPoints gain_points_of(const sparse::GainCurve& curve);

// How much of another agent's energy one agent's places hold, of what its own would: PlanInputs has
// it as `agreement`. `gradients` are at least two, and of one length.
double agreement_of(std::span<const std::span<const float>> gradients, double ratio);

}  // namespace tributary
