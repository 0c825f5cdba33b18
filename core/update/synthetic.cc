#include "core/update/synthetic.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tributary {
namespace {

// An address is converted to two streams, in buckets of their own purpose.
DrawAddress magnitudes_of(DrawAddress address) {
  address.bucket = 2 * address.bucket;
  address.purpose = DrawPurpose::synthetic_data;
  return address;
}

DrawAddress signs_of(DrawAddress address) {
  address = magnitudes_of(address);
  ++address.bucket;
  return address;
}

// Calls visit(value, normal) for each value. Normal draws are made in pairs.
template <typename Visit>
void for_each_normal(const DrawAddress& address, std::span<float> out, Visit visit) {
  const NormalStream normals(address);
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const auto pair = normals.pair(static_cast<std::uint32_t>(i / 2));
    visit(out[i], pair[0]);
    if (i + 1 < out.size()) visit(out[i + 1], pair[1]);
  }
}

// The variance may be slightly negative after rounding, so it is limited to zero.
double standard_deviation(std::span<const float> values) {
  if (values.empty()) return 0;
  double sum = 0;
  double squares = 0;
  for (const double x : values) {
    sum += x;
    squares += x * x;
  }
  const double n = static_cast<double>(values.size());
  return std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
}

}  // namespace

void fill_lognormal_gradient(const DrawAddress& address, float sigma, std::span<float> out) {
  assert(out.size() <= std::size_t{1} << 32);
  for_each_normal(magnitudes_of(address), out, [&](float& value, double normal) {
    value = static_cast<float>(std::exp(double{sigma} * normal));
  });
  const StreamKey signs = stream_key(signs_of(address));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (random_bits(signs, static_cast<std::uint32_t>(i)) >> 31) out[i] = -out[i];
  }
}

void fill_agent_gradient(const AgentGradient& gradient, std::uint32_t agent, std::span<float> out) {
  assert(agent != kSharedDraw);
  DrawAddress address{
      .job_seed = gradient.seed, .round = gradient.round, .purpose = DrawPurpose::synthetic_data};
  fill_lognormal_gradient(address, gradient.sigma, out);
  // The noise is relative to the common part of this round.
  const double scale = double{gradient.noise} * standard_deviation(out);
  address.agent = agent;
  for_each_normal(address, out, [&](float& value, double normal) {
    value = static_cast<float>(double{value} + scale * normal);
  });
}

}  // namespace tributary
