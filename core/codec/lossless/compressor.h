// A common interface to zstd and zlib: each call compresses or decompresses one independent piece.
//
// Objects are immutable and live until the program ends; all threads may share them. The compressed
// bytes depend on the version of the library, so they are not compared between machines.
#pragma once

#include <cstddef>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary::lossless {

class Compressor {
 public:
  virtual ~Compressor() = default;

  // The maximum compressed size of `bytes` bytes.
  virtual std::size_t bound(std::size_t bytes) const = 0;
  // Compresses `in` and returns the compressed size. `out` must have at least bound(in.size())
  // bytes. Fails with resource_exhausted if the library cannot allocate memory.
  virtual Result<std::size_t> compress(ByteSpan in, MutableByteSpan out) const = 0;
  // Decompresses `in`, which is untrusted, and must fill exactly `out`; otherwise corrupt_data.
  // Memory is bounded by `out`, whatever size `in` states.
  virtual Status decompress(ByteSpan in, MutableByteSpan out) const = 0;
};

// `level` is 1 to 19 for zstd and 1 to 9 for zlib.
const Compressor& zstd_compressor(int level);
const Compressor& zlib_compressor(int level);

}  // namespace tributary::lossless
