// The loops of GComp over whole buckets, as a device runs them. The bytes are those of the scalar
// specification. Spans and pointers are to host memory. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/gcomp/codebook.h"
#include "core/codec/gcomp/metric.h"

namespace tributary::gcomp {

// The chunks of a bucket to encode.
struct DeviceEncoding {
  std::span<const float> values;
  LevelRule rule = {};        // its pointers begin at the bucket's first value
  bool chunk_levels = false;  // a metric chooses `level` or the next one for each chunk
  unsigned level = 0;
  bool exact = false;              // only zeros without a sign are pruned
  bool coded = false;              // exponents are coded; otherwise they stay raw
  const Codebook* book = nullptr;  // null: the device makes it of the bucket's histogram, version 0
  bool count = false;              // return the histogram
  unsigned code_bits_max = kCodeBitsMax;
};

struct DeviceEncoded {
  std::size_t bytes = 0;  // of the table of chunks and the chunks
  std::size_t escapes = 0;
  bool misfit = false;  // of any chunk
  std::uint64_t bits_dropped = 0;
  Histogram histogram = {};                            // if it was asked for
  std::array<std::uint8_t, kCodebookBytes> book = {};  // if the device made it
};

struct DeviceDecoded {
  bool sound = false;         // false: a chunk has a fault, and the values are undefined
  std::uint32_t largest = 0;  // bits of the largest magnitude
};

class DeviceLoops {
 public:
  virtual ~DeviceLoops() = default;

  // Writes the table of chunks and the chunks to `out`, which has room for the largest result.
  virtual Result<DeviceEncoded> encode(const DeviceEncoding& encoding, MutableByteSpan out) = 0;

  // Decodes untrusted chunks. Chunk i has the bytes begins[i] to begins[i + 1] of the body. The
  // caller has checked that they are multiples of 4 within the body. A null book: all exponents are
  // raw.
  virtual Result<DeviceDecoded> decode(ByteSpan body, std::span<const std::size_t> begins,
                                       const Codebook* book, std::span<float> values) = 0;
};

}  // namespace tributary::gcomp
