#include "core/codec/error_feedback.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tributary {

void add_values(std::span<const float> values, std::span<float> sum) {
  assert(values.size() == sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

void keep_residual(std::span<const float> sent, std::span<const float> decoded,
                   std::span<float> residual) {
  assert(sent.size() == decoded.size() && sent.size() == residual.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    // Equal bits leave nothing behind, also where they are an Inf or a NaN that a codec carries.
    const bool whole =
        std::bit_cast<std::uint32_t>(sent[i]) == std::bit_cast<std::uint32_t>(decoded[i]);
    residual[i] = whole ? 0.0f : sent[i] - decoded[i];
  }
}

ErrorFeedback::ErrorFeedback(std::uint64_t values) : residual_(values, 0.0f) {}

std::span<float> ErrorFeedback::slice(std::uint64_t offset, std::uint64_t count) {
  assert(offset <= residual_.size() && count <= residual_.size() - offset);
  return std::span(residual_).subspan(offset, count);
}

void ErrorFeedback::add_to(std::uint64_t offset, std::span<float> values) const {
  assert(offset <= residual_.size() && values.size() <= residual_.size() - offset);
  add_values(std::span(residual_).subspan(offset, values.size()), values);
}

void ErrorFeedback::settle_committed(std::uint64_t offset, std::span<const float> sent,
                                     std::span<const float> decoded) {
  keep_residual(sent, decoded, slice(offset, sent.size()));
}

void ErrorFeedback::settle_excluded(std::uint64_t offset, std::span<const float> sent) {
  std::ranges::copy(sent, slice(offset, sent.size()).begin());
}

void ErrorFeedback::rescale(float factor) {
  for (float& value : residual_) value *= factor;
}

}  // namespace tributary
