// The loops of the sign codecs over whole buckets, as a device runs them. The bytes are those of
// the scalar specification. Spans and pointers are to host memory. Thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"
#include "core/codec/signs/elements.h"

namespace tributary::signs {

// How a block's magnitudes follow from its values.
enum class WorthRule : std::uint8_t { mean_magnitude, means_by_sign };

class DeviceLoops {
 public:
  virtual ~DeviceLoops() = default;

  // Write sign bits, with zeros behind the last one. They return the bits of the largest magnitude.
  virtual Result<std::uint32_t> encode_signs(std::span<const float> values, std::uint8_t* bits) = 0;
  // `block` is a power of two, 64 or more.
  virtual Result<std::uint32_t> encode_scaled_signs(WorthRule rule, std::uint32_t block,
                                                    std::span<const float> values, Worth* worths,
                                                    std::uint8_t* bits) = 0;

  virtual Status decode_signs(const std::uint8_t* bits, float step, std::span<float> values) = 0;
  virtual Status decode_scaled_signs(std::uint32_t block, const Worth* worths,
                                     const std::uint8_t* bits, std::span<float> values) = 0;
  // Counts of votes for minus, of `voters`.
  virtual Status decode_votes(std::span<const std::uint8_t> counts, std::uint32_t voters,
                              float step, float* values) = 0;
  virtual Status decode_votes(std::span<const std::uint16_t> counts, std::uint32_t voters,
                              float step, float* values) = 0;
  virtual Status decode_votes(std::span<const std::uint32_t> counts, std::uint32_t voters,
                              float step, float* values) = 0;
};

}  // namespace tributary::signs
