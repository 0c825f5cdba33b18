// What a codec costs and loses on given updates: `codec measure`, the demo's table, the benchmarks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary {

struct MeasureOptions {
  std::uint32_t rounds = 1;
  bool error_feedback = true;  // where the codec contracts
  std::uint64_t job_seed = 1;
  std::uint32_t bucket_values = 16u << 20;  // 64 MiB of float32
  Backend backend = Backend::simd;
  // Called after every bucket of every round; returns false to stop.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress = {};
};

// Of one bucket: payloads on average, times on one core as medians over buckets and rounds.
struct StageMeasure {
  double bytes_up = 0;     // of one payload, envelope included
  double bytes_down = 0;   // of the combined one
  double encode_s = 0;     // one payload
  double aggregate_s = 0;  // one payload's part of the combined one
};

struct MeasureReport {
  double ratio_up = 0;  // float32 bytes over payload bytes, envelopes included
  double ratio_down = 0;
  double bits_per_value_up = 0;
  double bits_per_value_down = 0;
  // Of the decoded mean against the true mean, summed over all rounds; and of the last round alone.
  double nmse = 0;
  double nmse_last = 0;
  // Float32 bytes of one agent per second, on one core: medians over buckets and rounds.
  double encode_bytes_per_s = 0;
  double aggregate_bytes_per_s = 0;
  double decode_bytes_per_s = 0;
  std::vector<StageMeasure> stages;
};

// Plays one agent per update; all updates have the same length, one value at least.
Result<MeasureReport> measure(const Codec& codec, std::span<const std::span<const float>> updates,
                              const MeasureOptions& options, const Clock& clock);

}  // namespace tributary
