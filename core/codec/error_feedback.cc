#include "core/codec/error_feedback.h"

#include <bit>
#include <cassert>
#include <cstdint>

#include "core/codec/chunks.h"

namespace tributary {

// The loops use pointers, because a library with checked spans would compare every index.
void add_values(std::span<const float> values, std::span<float> sum) {
  assert(values.size() == sum.size());
  const float* const x = values.data();
  float* const y = sum.data();
  for (std::size_t i = 0; i < sum.size(); ++i) y[i] += x[i];
}

void keep_residual(std::span<const float> sent, std::span<const float> decoded,
                   std::span<float> residual) {
  assert(sent.size() == decoded.size() && sent.size() == residual.size());
  const float* const x = sent.data();
  const float* const y = decoded.data();
  float* const out = residual.data();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    // Equal bits leave no residual. The difference of two Infs or NaNs, which some codecs carry,
    // would be NaN.
    const bool whole = std::bit_cast<std::uint32_t>(x[i]) == std::bit_cast<std::uint32_t>(y[i]);
    out[i] = whole ? 0.0f : x[i] - y[i];
  }
}

void add_values(const Execution& execution, std::span<const float> values, std::span<float> sum) {
  assert(values.size() == sum.size());
  for_each_chunk(execution, sum.size(), kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   add_values(values.subspan(begin, end - begin), sum.subspan(begin, end - begin));
                 });
}

void keep_residual(const Execution& execution, std::span<const float> sent,
                   std::span<const float> decoded, std::span<float> residual) {
  assert(sent.size() == decoded.size() && sent.size() == residual.size());
  for_each_chunk(
      execution, sent.size(), kChunkValues, [&](std::size_t, std::size_t begin, std::size_t end) {
        keep_residual(sent.subspan(begin, end - begin), decoded.subspan(begin, end - begin),
                      residual.subspan(begin, end - begin));
      });
}

void add_weighted(std::span<const float> values, float weight, std::span<float> sum) {
  assert(values.size() == sum.size());
  const float* const x = values.data();
  float* const y = sum.data();
  for (std::size_t i = 0; i < sum.size(); ++i) y[i] += weight * x[i];
}

}  // namespace tributary
