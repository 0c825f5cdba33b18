// The loops of the fixed-width codecs over whole buckets, as a device runs them. The bytes are
// those of the scalar specification. Spans and pointers are to host memory. Thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/random.h"
#include "core/base/status.h"

namespace tributary::quantize {

enum class SixteenBitFormat : std::uint8_t { half, bfloat };

// How the values of a bucket are quantized to 8 bits: blocks that share a scale, with nearest or
// random rounding.
struct LevelFormat {
  std::uint32_t block = 4096;  // a power of two, 64 or more
  bool random_rounding = false;
  StreamKey key = {};
};

// How the values of a bucket are rounded at random to levels of few bits.
struct PackedFormat {
  std::uint32_t block = 512;  // a power of two, 64 or more
  int bits = 4;               // of a level: 2 to 8
  bool euclidean = false;     // the norm of a block is its length, or else its largest magnitude
  StreamKey key = {};
};

class DeviceLoops {
 public:
  virtual ~DeviceLoops() = default;

  // Encoders to 16 bits return the bits of the largest magnitude of the values, decoders the
  // largest magnitude of the words.
  virtual Result<std::uint32_t> encode_words(SixteenBitFormat format, std::span<const float> values,
                                             std::uint16_t* words) = 0;
  virtual Result<std::uint32_t> decode_words(SixteenBitFormat format,
                                             std::span<const std::uint16_t> words,
                                             float* values) = 0;
  virtual Status find_scales(const LevelFormat& format, std::span<const float> values,
                             float* scales) = 0;
  virtual Status encode_levels(const LevelFormat& format, std::span<const float> values,
                               const float* scales, std::int8_t* levels) = 0;
  virtual Status encode_scales_and_levels(const LevelFormat& format, std::span<const float> values,
                                          float* scales, std::int8_t* levels) = 0;
  virtual Status decode_levels8(const LevelFormat& format, std::span<const std::int8_t> levels,
                                const float* scales, float* values) = 0;
  virtual Status decode_levels16(const LevelFormat& format, std::span<const std::int16_t> levels,
                                 const float* scales, float* values) = 0;
  virtual Status decode_levels32(const LevelFormat& format, std::span<const std::int32_t> levels,
                                 const float* scales, float* values) = 0;

  // The encoder returns the bits of the largest magnitude.
  virtual Result<std::uint32_t> encode_packed(const PackedFormat& format,
                                              std::span<const float> values, float* norms,
                                              std::uint8_t* packed) = 0;
  virtual Status decode_packed(const PackedFormat& format, const float* norms,
                               const std::uint8_t* packed, std::span<float> values) = 0;
};

}  // namespace tributary::quantize
