// The header of an encoded file: the fields before the first payload. encoded_file.h describes the
// format.
//
// The functions are pure, except for the source. Reading trusts nothing: every length is bounded
// before it is used.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/bytes/byte_source.h"
#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary {

// The bucket's index must fit in the 32 bits of a record and of a random draw's address.
constexpr std::uint64_t kEncodedFileBucketsMax = std::uint64_t{1} << 32;

struct EncodedFileHeader {
  std::string spec;
  std::uint64_t values = 0;
  // Values per bucket; the last bucket may have fewer.
  std::uint32_t bucket_values = 0;
  std::uint64_t job_seed = 0;
  std::uint64_t round = 0;

  // Both require bucket_values > 0; values_of_bucket() also requires bucket < buckets().
  std::uint64_t buckets() const;
  std::uint32_t values_of_bucket(std::uint64_t bucket) const;
};

// The bytes of a header with its checksum. The spec must have 1 to kSpecBytesMax bytes.
Bytes encoded_file_header_bytes(const EncodedFileHeader& header);

struct ReadEncodedFileHeader {
  EncodedFileHeader header;
  std::uint64_t bytes;  // size of the header; the first record begins here
};

// Reads and checks a header: corrupt_data for damage or fields out of bounds, unsupported for an
// unknown version, or the source's error. The spec may still name no codec.
Result<ReadEncodedFileHeader> read_encoded_file_header(const ByteSource& source);

// A corrupt_data status that names the byte offset `place` in the file.
Status corrupt_encoded_file(std::uint64_t place, std::string expected, std::string got);

}  // namespace tributary
