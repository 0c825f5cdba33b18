// Interfaces for reading bytes at any offset and for writing them in order, independent of the
// storage.
//
// A reader keeps neither the whole content nor a position, so codecs and data sets can work on
// files that are larger than memory. Implementations are files, bytes in memory and decompressed
// archives.
#pragma once

#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/base/function_ref.h"
#include "core/base/status.h"

namespace tributary {

// Bytes that do not change and that any thread can read, at any offset and in any order.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  // Fills all of `out`. The caller guarantees that the range lies within size(). Fails with
  // io_error if the storage cannot deliver the bytes.
  virtual Status read(std::uint64_t offset, MutableByteSpan out) const = 0;
};

// Receives output piece by piece, in order. An error stops the writer, which returns it.
using ByteSink = FunctionRef<Status(ByteSpan)>;

}  // namespace tributary
