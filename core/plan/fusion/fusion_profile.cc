#include "core/plan/fusion/fusion_profile.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace tributary {
namespace {

// The comparison is false for NaN, so NaN is refused as well.
Status check_number(std::string what, double number, double max) {
  if (number >= 0 && number <= max) return {};
  const StatusCode code =
      std::isfinite(number) ? StatusCode::invalid_argument : StatusCode::not_finite;
  return Status(code, {.what = std::move(what),
                       .expected = fmt::format("a number from 0 to {}", max),
                       .got = fmt::format("{}", number)});
}

Status check_numbers(std::string_view name, const std::vector<double>& numbers, double max) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= 0 && numbers[i] <= max) continue;
    return check_number(fmt::format("{}[{}]", name, i), numbers[i], max);
  }
  return {};
}

Status check_cost(std::string_view stage, const StageCost& cost) {
  TRIBUTARY_TRY(check_number(fmt::format("{}.alpha_s", stage), cost.alpha_s, kFusionSecondsMax));
  return check_number(fmt::format("{}.beta_s_per_byte", stage), cost.beta_s_per_byte,
                      kFusionSecondsPerByteMax);
}

Status check_counts(const FusionProfile& profile) {
  const std::size_t tensors = profile.backward_s.size();
  if (tensors == 0) {
    return Status(StatusCode::invalid_argument, {.what = "backward_s",
                                                 .expected = "one number for every tensor",
                                                 .got = "none",
                                                 .remedy = "profile a backward pass"});
  }
  if (tensors > kFusionTensorsMax) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "backward_s",
                   .expected = fmt::format("up to {} tensors", kFusionTensorsMax),
                   .got = fmt::format("{}", tensors),
                   .remedy = "add up neighbours that become ready together"});
  }
  if (profile.bytes.size() != tensors) {
    return Status(StatusCode::mismatch,
                  {.what = "bytes",
                   .expected = fmt::format("{} numbers, as backward_s has", tensors),
                   .got = fmt::format("{}", profile.bytes.size())});
  }
  if (profile.decode_agents == 0 || profile.decode_agents > kFusionAgentsMax) {
    return Status(StatusCode::invalid_argument,
                  {.what = "decode.agents",
                   .expected = fmt::format("1 to {}", kFusionAgentsMax),
                   .got = fmt::format("{}", profile.decode_agents)});
  }
  return {};
}

}  // namespace

Status check_fusion_profile(const FusionProfile& profile) {
  TRIBUTARY_TRY(check_counts(profile));
  TRIBUTARY_TRY(check_numbers("backward_s", profile.backward_s, kFusionSecondsMax));
  TRIBUTARY_TRY(check_numbers("bytes", profile.bytes, kFusionBytesMax));
  TRIBUTARY_TRY(check_cost("compress", profile.compress));
  TRIBUTARY_TRY(check_cost("network", profile.network));
  return check_cost("decode", profile.decode);
}

}  // namespace tributary
