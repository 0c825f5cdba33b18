// The header of an encoded file (encoded_file.h): what stands before the first payload.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/bytes/byte_source.h"
#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary {

constexpr std::uint64_t kEncodedFileBucketsMax = std::uint64_t{1} << 32;

struct EncodedFileHeader {
  std::string spec;
  std::uint64_t values = 0;
  std::uint32_t bucket_values = 0;
  std::uint64_t job_seed = 0;
  std::uint64_t round = 0;

  std::uint64_t buckets() const;
  std::uint32_t values_of_bucket(std::uint64_t bucket) const;
};

Bytes encoded_file_header_bytes(const EncodedFileHeader& header);

struct ReadEncodedFileHeader {
  EncodedFileHeader header;
  std::uint64_t bytes;  // the records begin here
};

// Checks all that a header by itself can get wrong; its spec may still name no codec.
Result<ReadEncodedFileHeader> read_encoded_file_header(const ByteSource& source);

// An error of kind corrupt_data: what is wrong with the file, and where.
Status corrupt_encoded_file(std::uint64_t place, std::string expected, std::string got);

}  // namespace tributary
