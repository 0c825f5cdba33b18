// Measures the cost and the loss of a codec on given updates, for `codec measure`, the
// demonstration's table and the benchmarks.
//
// The caller runs the measurement, with the threads that the options name. Sizes and errors depend
// only on the codec, the updates and the options; times depend on the machine. Memory: per agent
// one payload and, with error feedback, two float32 copies of one bucket; in addition 12 bytes per
// value of one bucket.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/update/layer_map.h"

namespace tributary {

struct MeasureOptions {
  std::uint32_t rounds = 1;
  bool error_feedback = true;  // only for a codec that keeps its error
  std::uint64_t job_seed = 1;
  std::uint32_t bucket_values = 16u << 20;  // 64 MiB of float32
  // Layers of the updates; their values must be those of an update. Buckets are then those of a
  // job's plan. Null: buckets of `bucket_values` without layers.
  const LayerMap* layers = nullptr;
  std::uint32_t layer_values = 16u << 20;  // as BucketOptions::layer_values_max
  // Implementation that is measured.
  Backend backend = Backend::simd;
  ThreadPool* pool = nullptr;     // not owned; null: one thread
  CodecDevice* device = nullptr;  // not owned; null: the host does all work
  // Called on the measuring thread after every bucket of every round. Returning false stops the
  // measurement with StatusCode::cancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress = {};
};

// Cost of one stage for one bucket. Payload sizes are means; times are medians over buckets and
// rounds, with the threads of the options.
struct StageMeasure {
  double bytes_up = 0;     // one payload, with its envelope
  double bytes_down = 0;   // the combined payload
  double encode_s = 0;     // seconds per payload
  double aggregate_s = 0;  // seconds per payload added to the combined one
};

struct MeasureReport {
  double ratio_up = 0;  // float32 bytes divided by payload bytes, with envelopes
  double ratio_down = 0;
  double bits_per_value_up = 0;
  double bits_per_value_down = 0;
  // Normalized squared error of the decoded mean against the true mean: over the sum of all rounds,
  // and for the last round alone. 0 is exact.
  double nmse = 0;
  double nmse_last = 0;
  // Rates in float32 bytes of one agent per second, with the threads of the options; medians over
  // buckets and rounds.
  double encode_bytes_per_s = 0;
  double aggregate_bytes_per_s = 0;
  double decode_bytes_per_s = 0;
  std::vector<StageMeasure> stages;
};

// Plays one agent per update. All updates must have the same length of at least one value;
// otherwise, or with options out of bounds, the status is invalid_argument. An error of the codec
// names the bucket and the agent.
Result<MeasureReport> measure(const Codec& codec, std::span<const std::span<const float>> updates,
                              const MeasureOptions& options, const Clock& clock);

}  // namespace tributary
