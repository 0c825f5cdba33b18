// The content of a virtual file, in blocks of a fixed size: a file that grows moves no bytes and
// has at most one block of unused memory. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/bytes/bytes.h"

namespace tributary {

class FileBytes {
 public:
  static constexpr std::uint64_t kBlockBytes = 16 * 1024;

  std::uint64_t size() const { return size_; }
  // Returns the number of bytes that were read; fewer than requested at the end.
  std::size_t read(std::uint64_t offset, MutableByteSpan out) const;
  // Extends the content as needed; a gap before the bytes becomes zeros.
  void write(std::uint64_t offset, ByteSpan bytes);
  // New bytes are zeros.
  void resize(std::uint64_t size);

 private:
  using Block = std::array<std::uint8_t, kBlockBytes>;

  std::vector<std::unique_ptr<Block>> blocks_;  // the bytes behind size_ are zeros
  std::uint64_t size_ = 0;
};

}  // namespace tributary
