// A payload that arrives in parts: runs of bytes of any length, in any order, perhaps more than
// once. Its memory is the payload's size, which its owner has compared with a cap, and has room
// for, before this is made.
#pragma once

#include <cstdint>

#include "core/base/bytes/byte_ranges.h"
#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "schemas/frame_generated.h"

namespace tributary {

// Whether a part belongs to a payload of this size; what it says of itself has been checked.
Status check_size(const wire::Part& part, std::uint64_t payload_bytes);

class Reassembly {
 public:
  explicit Reassembly(std::uint64_t size) : size_(size), bytes_(size) {}

  std::uint64_t size() const { return size_; }
  // How many bytes are new. The part lies within the payload.
  std::uint64_t take(std::uint64_t offset, ByteSpan part);
  bool complete() const { return arrived_.bytes() == size_; }
  std::uint64_t from_start() const { return arrived_.from_start(); }

  ByteSpan bytes() const { return bytes_; }
  // Leaves none behind.
  Bytes release() { return std::move(bytes_); }

 private:
  std::uint64_t size_;
  Bytes bytes_;
  ByteRanges arrived_;
};

}  // namespace tributary
