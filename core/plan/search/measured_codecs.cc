#include "core/plan/search/measured_codecs.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/codec/registry.h"
#include "core/cost/measured_stages.h"
#include "core/plan/search/predict.h"

namespace tributary {
namespace {

double energy_at(std::span<const float> values, std::span<const std::uint32_t> places) {
  double energy = 0;
  for (const std::uint32_t place : places) {
    const double x = values[place];
    energy += x * x;
  }
  return energy;
}

// Places of the largest values by magnitude, in no particular order. Equal values are ordered by
// place, so that the result does not depend on the library.
std::vector<std::uint32_t> largest(std::span<const float> values, double ratio) {
  std::vector<std::uint32_t> places(values.size());
  for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = i;
  const auto kept =
      static_cast<std::ptrdiff_t>(std::max(1.0, ratio * static_cast<double>(values.size())));
  std::ranges::nth_element(places, places.begin() + kept - 1,
                           [&](std::uint32_t a, std::uint32_t b) {
                             const float x = std::abs(values[a]);
                             const float y = std::abs(values[b]);
                             return x > y || (x == y && a < b);
                           });
  places.resize(static_cast<std::size_t>(kept));
  return places;
}

}  // namespace

PlanFamily family_of(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  // A spec that names its ratio leaves a plan no ratio to set.
  if (spec.find("cr=") != std::string_view::npos) return PlanFamily::fixed;
  if (name == "topk") return PlanFamily::top_k;
  return name == "star_topk" ? PlanFamily::ar_top_k : PlanFamily::fixed;
}

Result<PlanCodec> measure_plan_codec(std::string_view spec, const PlanMeasureOptions& options,
                                     const Clock& clock) {
  PlanCodec plan = {.spec = std::string(spec), .family = family_of(spec)};
  const PlanChoice choice = make_choice(plan, wire::Collective::star, options.ratio, 1);
  TRIBUTARY_ASSIGN(const std::unique_ptr<Codec> codec, make_codec(choice.codec));
  TRIBUTARY_ASSIGN(
      const MeasuredStages measured,
      measure_stages(*codec, options.agents, options.bucket_values, clock, options.go_on, 1));
  const double values = options.bucket_values;
  // The measured bytes are divided into the frame's, which are constant, and the rest in proportion
  // to the values.
  for (const StagePayload& stage : measured.stages) {
    plan.stages.push_back({.flow = stage.flow,
                           .up_bytes = kPeerFrameBytes,
                           .up_bytes_per_value = (stage.up_bytes - kPeerFrameBytes) / values,
                           .down_bytes = kPeerFrameBytes,
                           .down_bytes_per_value = (stage.down_bytes - kPeerFrameBytes) / values,
                           .encode_s_per_value = stage.encode_s / values,
                           .aggregate_s_per_value = stage.aggregate_s / values});
  }
  plan.decode_s_per_value = measured.decode_s / values;
  plan.gain = std::clamp(1 - measured.nmse, 0.0, 1.0);
  return plan;
}

GainPoints gain_points_of(const sparse::GainCurve& curve) {
  GainPoints points;
  for (const double ratio : sparse::kGainRatios) {
    const double before = points.gains.empty() ? 0 : points.gains.back();
    points.ratios.push_back(ratio);
    points.gains.push_back(std::clamp(curve.at_ratio(ratio).low, before, 1.0));
  }
  return points;
}

double agreement_of(std::span<const std::span<const float>> gradients, double ratio) {
  double with_roots = 0;
  double own = 0;
  double all = 0;
  const std::vector<std::uint32_t> places = largest(gradients.front(), ratio);
  for (const std::span<const float> gradient : gradients.subspan(1)) {
    with_roots += energy_at(gradient, places);
    own += energy_at(gradient, largest(gradient, ratio));
    for (const float x : gradient) all += static_cast<double>(x) * static_cast<double>(x);
  }
  // A random choice of places would keep this much energy. The agreement is 0 at that level and 1
  // if the first gradient's places are as good as the own ones.
  const double blind = ratio * all;
  return own > blind ? std::clamp((with_roots - blind) / (own - blind), 0.0, 1.0) : 1;
}

}  // namespace tributary
