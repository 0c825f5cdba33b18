// A payload that comes in parts, in any order and perhaps more than once. Its memory is the
// payload's size, which its owner has compared with a cap, and has room for, before this is made.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/round/bitmap.h"
#include "schemas/frame_generated.h"

namespace tributary {

// How a payload is cut: into parts of the same size, and what is left.
struct PartLayout {
  std::uint64_t bytes = 0;
  std::uint32_t part_bytes = 1;

  std::uint32_t parts() const {
    if (bytes == 0) return 1;
    return static_cast<std::uint32_t>((bytes + part_bytes - 1) / part_bytes);
  }
  std::uint64_t offset(std::uint32_t part) const { return std::uint64_t{part} * part_bytes; }
  std::uint32_t size(std::uint32_t part) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(part_bytes, bytes - offset(part)));
  }
};

// Whether a part is cut as the plan says: what it states of itself follows from two numbers.
Status check_layout(const wire::Part& part, const PartLayout& layout);

class Reassembly {
 public:
  explicit Reassembly(const PartLayout& layout);

  const PartLayout& layout() const { return layout_; }
  bool has(std::uint32_t part) const { return received_.test(part); }
  // A part that is there already is ignored. The payload is as long as the layout says.
  void take(std::uint32_t part, ByteSpan payload);
  bool complete() const { return count_ == layout_.parts(); }
  std::uint32_t received() const { return count_; }
  // Runs that are missing below the highest part that came, or all that are missing.
  std::vector<wire::Range> missing(bool all, std::size_t runs_max) const;

  ByteSpan bytes() const { return bytes_; }
  Bytes release() { return std::move(bytes_); }

 private:
  PartLayout layout_;
  Bitmap received_;
  Bytes bytes_;
  std::uint32_t count_ = 0;
  std::uint32_t end_ = 0;  // behind the highest part that came
};

}  // namespace tributary
