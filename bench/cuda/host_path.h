// The time until the encoded bytes of a tensor on the GPU are in pinned host memory, encoded by the
// GPU or by the host, and the time of an encoding in a job, whose tensor is in host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/cuda/device_time.h"
#include "core/base/bytes/bytes.h"
#include "core/codec/device/codec_device.h"

namespace tributary::bench {

// Seconds for the whole update; medians.
struct PathTimes {
  std::uint64_t payload_bytes = 0;
  double device_s = 0;  // the GPU encodes and copies the payload
  double host_s = 0;    // float32 is copied, and all cores encode while the copy goes on
  bool bucket_each =
      false;                // the host was faster with a core for each bucket than with all for one
  double job_device_s = 0;  // host memory to host memory, by the codec with the GPU
  double job_host_s = 0;    // the same without
  std::uint64_t buckets_on_device = 0;  // that the codec encoded on the GPU
  std::uint64_t buckets = 0;
  // An update of a trainer on the GPU, until its payloads and residuals are in host memory; 0: the
  // codec reads its values on the host.
  double update_on_device_s = 0;  // values stay on the GPU
  double update_copied_s = 0;     // copied to the host, from there encoded by the GPU
  double update_on_host_s = 0;    // copied to the host and encoded there
};

// `encode` is the GPU's encoding of the whole update. The host encodes buckets of 4 MiB.
Result<PathTimes> time_paths(const std::string& codec, const FloatVector& update,
                             const Start& encode, CodecDevice& gpu);

// Seconds of the codec's whole encoding of one small bucket on the GPU, from and to host memory;
// the median.
Result<double> time_small_bucket(const std::string& codec, const FloatVector& update,
                                 CodecDevice& gpu);

}  // namespace tributary::bench
