// The loops of THC over whole buckets, as a device runs them. The bytes are those of the scalar
// specification. Spans and pointers are to host memory. Thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/random.h"
#include "core/base/status.h"
#include "core/codec/thc/body.h"
#include "core/codec/thc/elements.h"

namespace tributary::thc {

// How blocks of values become coordinates.
struct BlockFormat {
  std::uint32_t block = 4096;
  bool rotated = true;
  bool minmax = false;
  StreamKey signs = {};  // of the rotation
};

class DeviceLoops {
 public:
  virtual ~DeviceLoops() = default;

  // Writes the numbers of every block (block_range.h). Returns false if a value is Inf or NaN; the
  // numbers are then undefined.
  virtual Result<bool> find_ranges(const BlockFormat& format, std::span<const float> values,
                                   float* numbers) = 0;

  // Writes the packed levels of all runs, which follow the stamp in a payload. `numbers` are the
  // combined ones of stage 0.
  virtual Status encode_levels(const BlockFormat& format, const FieldPlan& plan,
                               const Rounding& rounding, std::span<const float> values,
                               std::span<const float> numbers, std::uint8_t* fields) = 0;

  struct Checks {
    bool within;  // no sum exceeds what its contributors can produce
    bool finite;  // no value is Inf or NaN
  };
  // Decodes levels or sums. If a check fails, the values are undefined.
  virtual Result<Checks> decode(const BlockFormat& format, const FieldPlan& plan,
                                const Fields& fields, std::span<const float> numbers,
                                std::span<float> values) = 0;
};

}  // namespace tributary::thc
