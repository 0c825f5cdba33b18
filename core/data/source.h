// The files of data sets: plain ones are read where they lie, compressed ones go into memory.
#pragma once

#include <memory>
#include <string>

#include "core/base/bytes/byte_source.h"
#include "core/base/bytes/bytes.h"

namespace tributary {

struct DataLimits {
  std::uint64_t memory_bytes_max = std::uint64_t{1} << 30;  // of what must be held in memory
};

// A file that begins like a gzip file is one, whatever its name.
Result<std::shared_ptr<const ByteSource>> open_source(const std::string& path,
                                                      const DataLimits& limits);

std::shared_ptr<const ByteSource> memory_source(Bytes bytes);

// All of it. Members one behind the other are joined, as gunzip does.
Result<Bytes> inflate_gzip(ByteSpan compressed, std::uint64_t size_max);

}  // namespace tributary
