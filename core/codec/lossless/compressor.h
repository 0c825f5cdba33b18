// The two libraries behind one interface: a piece of bytes in, a piece of bytes out.
#pragma once

#include <cstddef>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary::lossless {

class Compressor {
 public:
  virtual ~Compressor() = default;

  // The most that `bytes` can become.
  virtual std::size_t bound(std::size_t bytes) const = 0;
  // Writes to `out`, which holds bound(in.size()), and returns how much.
  virtual Result<std::size_t> compress(ByteSpan in, MutableByteSpan out) const = 0;
  // Fills all of `out`, or is an error: the size is known and nothing else is believed.
  virtual Status decompress(ByteSpan in, MutableByteSpan out) const = 0;
};

const Compressor& zstd_compressor(int level);
const Compressor& zlib_compressor(int level);

}  // namespace tributary::lossless
