// Opens the files of data sets. Plain files are read on demand; gzip files are decompressed into
// memory, because they have no random access.
//
// The functions block while they read. Sources are immutable, and any thread may read them. The
// files must not change meanwhile.
#pragma once

#include <memory>
#include <string>

#include "core/base/bytes/byte_source.h"
#include "core/base/bytes/bytes.h"

namespace tributary {

// Bounds on the memory for a data set's files.
struct DataLimits {
  // Size of a file that is held in memory, compressed or not.
  std::uint64_t memory_bytes_max = std::uint64_t{1} << 30;
};

// A file that begins with gzip's magic number is decompressed, whatever its name. Fails with the
// error of opening or reading, corrupt_data (damaged gzip data) or resource_exhausted (more than
// the limit).
Result<std::shared_ptr<const ByteSource>> open_source(const std::string& path,
                                                      const DataLimits& limits);

// A source that owns its bytes. Reads beyond the end fail with io_error.
std::shared_ptr<const ByteSource> memory_source(Bytes bytes);

// Decompresses all members of a gzip file and concatenates them, as gunzip does. Fails with
// corrupt_data, or with resource_exhausted if the result exceeds `size_max` bytes.
Result<Bytes> inflate_gzip(ByteSpan compressed, std::uint64_t size_max);

}  // namespace tributary
