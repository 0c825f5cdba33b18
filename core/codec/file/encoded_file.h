// Encodes an update into a file, and decodes it, with bounded memory. This is the format of
// `tributary codec encode` and `tributary codec decode`. The file contains the payloads of a
// federation with a single agent, and it names its codec. Integers are little-endian.
//
//   byte  0  u64  magic "TRIBFILE"
//         8  u16  version (1)
//        10  u16  length of the spec string
//        12  u32  values in a bucket; the last one may have fewer
//        16  u64  values in the file
//        24  u64  job seed
//        32  u64  round
//        40  u32  zero
//        44  u32  checksum of everything else in the header
//        48       canonical spec string, zero-padded to a multiple of 8
//   then, for every bucket and every stage of the codec:
//            u32  bytes of the payload
//            u32  bucket
//                 payload with its own envelope and checksum, zero-padded to a multiple of 8
#pragma once

#include <cstdint>
#include <functional>

#include "core/base/bytes/byte_source.h"
#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/file/encoded_file_header.h"

namespace tributary {

// The options that determine the bytes of the file.
struct EncodedFileOptions {
  std::uint32_t bucket_values = 16u << 20;  // 64 MiB of float32
  std::uint64_t job_seed = 1;
  std::uint64_t round = 0;
};

// Options that change the speed, but no byte of the result.
struct EncodedFileWork {
  Execution execution = {};
  // Called on the caller's thread after each batch of buckets. Returning false stops the work with
  // StatusCode::cancelled.
  std::function<bool(std::uint64_t values_done, std::uint64_t values)> progress = {};
};

// Encodes the update `floats`, raw little-endian float32. Fails with corrupt_data if the size is
// not a multiple of 4 bytes, invalid_argument for a bucket size out of bounds, resource_exhausted
// for too many buckets, not_finite with the element's index in the file, or an error of the source
// or the sink. After an error, the bytes that the sink received are incomplete.
Status encode_file(const Codec& codec, const EncodedFileOptions& options, const ByteSource& floats,
                   const EncodedFileWork& work, ByteSink encoded);

// Decodes a file and trusts none of its bytes. Fails with corrupt_data for damage, unsupported for
// an unknown codec or version, resource_exhausted for a payload above the limits, or an error of
// the source or the sink. After an error, the values that the sink received must be discarded.
Result<EncodedFileHeader> decode_file(const ByteSource& encoded, const EncodedFileWork& work,
                                      ByteSink floats);

}  // namespace tributary
