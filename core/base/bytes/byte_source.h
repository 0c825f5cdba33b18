// Where bytes are read from and written to, whatever holds them.
#pragma once

#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/base/function_ref.h"
#include "core/base/status.h"

namespace tributary {

// Bytes that stay where they are and can be read at any place, in any order, by any thread.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  // Fills all of `out`; the caller stays within size().
  virtual Status read(std::uint64_t offset, MutableByteSpan out) const = 0;
};

// Takes the output piece by piece, in order.
using ByteSink = FunctionRef<Status(ByteSpan)>;

}  // namespace tributary
