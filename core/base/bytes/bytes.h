// Byte buffers, and a reader and a writer that check bounds.
//
// All data on the wire and on disk is little-endian. The code reads it in place, so it supports
// only little-endian machines; the first assertion checks this. The classes are not thread-safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace tributary {

static_assert(std::endian::native == std::endian::little,
              "formats are little-endian and read in place");

// Memory of a vector, aligned to 64 bytes, with any contents. Large blocks come from the cache of
// the process (block_cache.h). free_block() gets the size that was asked for. Throws
// std::bad_alloc.
void* allocate_block(std::size_t bytes);
void free_block(void* block, std::size_t bytes);

// Allocates memory aligned to a cache line. resize() leaves new elements uninitialized, because
// clearing a payload of 64 MiB just before it is filled would cost a pass over the memory.
template <typename T>
struct RawAllocator {
  using value_type = T;

  RawAllocator() = default;
  template <typename U>
  RawAllocator(const RawAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_block(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t n) { free_block(p, n * sizeof(T)); }

  template <typename U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <typename U, typename... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const RawAllocator&, const RawAllocator&) { return true; }
};

template <typename T>
using RawVector = std::vector<T, RawAllocator<T>>;
using Bytes = RawVector<std::uint8_t>;
using FloatVector = RawVector<float>;
}  // namespace tributary

// Compiled once, in bytes.cc. A vector with an allocator of its own destroys and copies element by
// element, which takes most of the time of many tests where the compiler does not optimise it away.
extern template class std::vector<std::uint8_t, tributary::RawAllocator<std::uint8_t>>;
extern template class std::vector<float, tributary::RawAllocator<float>>;

namespace tributary {

using ByteSpan = std::span<const std::uint8_t>;
using MutableByteSpan = std::span<std::uint8_t>;

// The bytes of an array or a text, and the text of bytes, without a copy. Only for trivially
// copyable types.
template <typename T>
ByteSpan bytes_of(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}
inline ByteSpan bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Moves the bytes to memory of their size, if theirs is larger by a page and an eighth of it: a
// vector keeps its capacity, and an encoder reserves the largest size that it may need. For bytes
// that are kept for long.
void release_unused(Bytes& bytes);

// Reads values in sequence from bytes that the caller owns. Every read names the field, for the
// error text. A read past the end returns corrupt_data and does not move the position.
class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : bytes_(bytes) {}

  template <typename T>
  Result<T> read(std::string_view field) {
    static_assert(std::is_arithmetic_v<T>);
    if (remaining() < sizeof(T)) return cut_short(field, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }
  // The next `count` bytes; they point into the input.
  Result<ByteSpan> take(std::size_t count, std::string_view field);
  Status skip(std::size_t count, std::string_view field);
  // Returns corrupt_data unless everything was read.
  Status expect_end(std::string_view what) const;

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

 private:
  Status cut_short(std::string_view field, std::size_t needed) const;

  ByteSpan bytes_;
  std::size_t position_ = 0;
};

// Appends values to a buffer of the caller, up to a maximum size. A write beyond it returns
// resource_exhausted and appends nothing.
class ByteWriter {
 public:
  explicit ByteWriter(Bytes& out, std::size_t size_max = static_cast<std::size_t>(-1))
      : out_(out), size_max_(size_max) {}

  template <typename T>
  Status write(T value) {
    static_assert(std::is_arithmetic_v<T>);
    return append({reinterpret_cast<const std::uint8_t*>(&value), sizeof(T)});
  }
  Status append(ByteSpan bytes);
  std::size_t size() const { return out_.size(); }

 private:
  Bytes& out_;
  std::size_t size_max_;
};

}  // namespace tributary
