#include "core/cost/stage_sizes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tributary {
namespace {

constexpr double kEnvelopeBytes = 48;
constexpr double kCountBytes = 4;
constexpr double kValueBytes = 4;
constexpr unsigned kRiceBitsMax = 26;

// At least one value is kept.
double kept(double values, double ratio) { return std::max(1.0, std::floor(ratio * values)); }

double bitmap_bytes(double values) { return values / 8; }

// The smallest of the index formats in core/codec/sparse.
double index_bytes(double values, double places) {
  return std::min({gap_bytes(places, places / values), bitmap_bytes(values), places * kValueBytes});
}

// A sparse payload is never larger than a dense one, because the codec then sends all values.
double sparse_bytes(double values, double places) {
  const double sparse = kCountBytes + places * kValueBytes + index_bytes(values, places);
  return kEnvelopeBytes + std::min(sparse, values * kValueBytes);
}

}  // namespace

// Gaps have a geometric distribution. A code has `bits` binary bits of the gap and the rest in
// unary; the best number of bits is tried out.
double gap_bytes(double places, double ratio) {
  if (ratio >= 1) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned bits = 0; bits <= kRiceBitsMax; ++bits) {
    const double longer = std::pow(1 - ratio, std::exp2(bits));
    least = std::min(least, bits + 1 + longer / (1 - longer));
  }
  return places * least / 8;
}

std::vector<StagePayload> dense_stages(double values) {
  const double bytes = kEnvelopeBytes + values * kValueBytes;
  return {{.flow = StageFlow::reduced, .up_bytes = bytes, .down_bytes = bytes}};
}

// The combined payload has the indices of all agents. They are assumed to be independent, which is
// the maximum on average: agents with similar updates share many indices.
std::vector<StagePayload> top_k_stages(double values, double ratio, std::uint32_t agents) {
  const double places = kept(values, ratio);
  const double all = values * (1 - std::pow(1 - places / values, agents));
  return {{.flow = StageFlow::gathered,
           .up_bytes = sparse_bytes(values, places),
           .down_bytes = sparse_bytes(values, all)}};
}

// First the indices of one agent, then the sum of all agents' values at these indices.
std::vector<StagePayload> ar_top_k_stages(double values, double ratio) {
  const double places = kept(values, ratio);
  const double sums = kEnvelopeBytes + places * kValueBytes;
  return {{.flow = StageFlow::from_root,
           .up_bytes = kEnvelopeBytes + kCountBytes + index_bytes(values, places)},
          {.flow = StageFlow::reduced, .up_bytes = sums, .down_bytes = sums}};
}

}  // namespace tributary
