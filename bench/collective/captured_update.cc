#include "bench/collective/captured_update.h"

#include <algorithm>

#include "core/base/random.h"
#include "core/codec/gcomp/captured_testing.h"

namespace tributary::bench {
namespace {

// The values again and again, up to `count`.
FloatVector repeated(const FloatVector& values, std::size_t count) {
  FloatVector out(count);
  for (std::size_t at = 0; at < count; at += values.size()) {
    std::copy_n(values.begin(), std::min(values.size(), count - at),
                out.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return out;
}

// Empty if the capture does not contain this vector: SGD has no moments.
FloatVector repeated(const gcomp_testing::Capture& capture, const char* vector, std::size_t count) {
  const auto found = capture.vectors.find(vector);
  return found == capture.vectors.end() ? FloatVector() : repeated(found->second, count);
}

std::span<const float> first(std::span<const float> values, std::size_t count) {
  return values.empty() ? values : values.first(count);
}

}  // namespace

Result<CapturedUpdate> CapturedUpdate::make(const std::string& folder,
                                            std::uint32_t bucket_values) {
  const std::vector<gcomp_testing::Capture> captures = gcomp_testing::captures(folder);
  if (captures.empty()) {
    return Status(StatusCode::not_found, {.what = "captures",
                                          .expected = "what bench/gradients/capture.py writes",
                                          .got = folder + " has no manifest.json with any"});
  }
  CapturedUpdate update;
  update.bucket_values_ = bucket_values;
  for (const gcomp_testing::Capture& capture : captures) {
    Tile tile = {.gradient = repeated(capture.gradient(), bucket_values),
                 .parameters = repeated(capture, "parameters", bucket_values),
                 .first_moment = repeated(capture, "first_moment", bucket_values),
                 .second_moment = repeated(capture, "second_moment", bucket_values),
                 .view = capture.view()};
    update.tiles_.push_back(std::move(tile));
  }
  return update;
}

FloatVector CapturedUpdate::gradient(std::uint32_t rank, std::size_t values) const {
  FloatVector out(values);
  const StreamKey key = stream_key(
      {.job_seed = 1, .round = 0, .purpose = DrawPurpose::synthetic_data, .agent = rank});
  for (std::size_t i = 0; i < values; ++i) {
    const FloatVector& tile = tiles_[i / bucket_values_ % tiles_.size()].gradient;
    const float factor = 0.5F + uniform_01(random_bits(key, static_cast<std::uint32_t>(i)));
    out[i] = tile[i % bucket_values_] * factor;
  }
  return out;
}

const OptimizerView* CapturedUpdate::view(std::uint32_t bucket, std::uint32_t values) {
  const auto [at, fresh] = views_.try_emplace(bucket);
  if (fresh) {
    const Tile& tile = tiles_[bucket % tiles_.size()];
    at->second = tile.view;
    at->second.parameters = first(tile.parameters, values);
    at->second.first_moment = first(tile.first_moment, values);
    at->second.second_moment = first(tile.second_moment, values);
  }
  return &at->second;
}

}  // namespace tributary::bench
