#include "core/codec/finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <utility>

namespace tributary {

Status not_finite_error(std::span<const float> values) {
  std::size_t index = 0;
  while (index < values.size() && std::isfinite(values[index])) ++index;
  assert(index < values.size());
  return Status(StatusCode::not_finite,
                {.what = fmt::format("element {} of the bucket", index),
                 .expected = "a finite number",
                 .got = fmt::format("{}", values[index]),
                 .remedy = "lower the learning rate or clip the gradient; nothing was sent"});
}

Status not_finite_error(const StageCall& call, std::span<const float> values) {
  call.host_takes_over();
  return not_finite_error(values);
}

float addend_max(std::uint32_t agents, std::uint32_t contributors) {
  const float share = FLT_MAX / 2 / static_cast<float>(std::max(agents, 1u));
  return share * static_cast<float>(std::clamp(contributors, 1u, std::max(agents, 1u)));
}

float addend_max(const StageCall& call, std::uint32_t contributors) {
  return call.finite_only ? addend_max(call.round.agents, contributors) : FLT_MAX;
}

bool within_magnitude(std::span<const float> values, float limit) {
  // The bits of magnitudes have the order of the magnitudes, with Inf and NaN above all others. The
  // difference has its top bit set exactly if a magnitude exceeds the limit. Lanes of a fixed
  // number are what a compiler turns into vectors.
  constexpr std::size_t kLanes = 32;
  constexpr std::uint32_t kMagnitude = 0x7fffffff;
  const auto most = std::bit_cast<std::uint32_t>(limit);
  const float* const x = values.data();
  std::uint32_t beyond[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      beyond[lane] |= most - (std::bit_cast<std::uint32_t>(x[i + lane]) & kMagnitude);
    }
  }
  for (; i < values.size(); ++i)
    beyond[0] |= most - (std::bit_cast<std::uint32_t>(x[i]) & kMagnitude);
  std::uint32_t any = 0;
  for (const std::uint32_t each : beyond) any |= each;
  return any >> 31 == 0;
}

Status not_addable_error(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::not_finite,
                {.what = std::move(what),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "lower the learning rate or clip the gradient; nothing was added"});
}

Status beyond_addend_error(std::string what, const StageCall& call, std::uint32_t contributors) {
  const std::uint32_t agents = call.round.agents;
  if (!call.finite_only) {
    return not_addable_error(std::move(what), "finite numbers",
                             "NaN or Inf, which no encoder writes");
  }
  return not_addable_error(
      std::move(what),
      fmt::format("finite values up to {:.3g}, so that a sum over {} agents stays finite",
                  addend_max(agents, contributors), agents),
      "NaN, Inf or a larger value");
}

}  // namespace tributary
