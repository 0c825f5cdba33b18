// Assembles a payload from parts: runs of bytes of any length, in any order, possibly repeated.
//
// It allocates the whole payload's size at once. The owner must have compared the size with a
// limit, and reserved it, before construction. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes/byte_ranges.h"
#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "schemas/frame_generated.h"

namespace tributary {

// Returns mismatch if the part does not belong to a payload of this size. Requires that the part
// has been validated as a message.
Status check_size(const wire::Part& part, std::uint64_t payload_bytes);

// One payload that is being received.
class Reassembly {
 public:
  explicit Reassembly(std::uint64_t size) : size_(size), bytes_(size) {}

  std::uint64_t size() const { return size_; }
  // Copies a part and returns the number of its bytes that are new. Requires that the part lies
  // within the payload.
  std::uint64_t take(std::uint64_t offset, ByteSpan part);
  // True if every byte has arrived.
  bool complete() const { return arrived_.bytes() == size_; }
  // Number of bytes that have arrived without a gap from the start.
  std::uint64_t from_start() const { return arrived_.from_start(); }

  // Returns the parts of a range that have arrived, in ascending order.
  std::vector<ByteRange> arrived(ByteRange range) const { return arrived_.overlap(range); }

  ByteSpan bytes() const { return bytes_; }
  // Moves the payload out; the object is then empty.
  Bytes release() { return std::move(bytes_); }

 private:
  std::uint64_t size_;
  Bytes bytes_;
  ByteRanges arrived_;
};

}  // namespace tributary
