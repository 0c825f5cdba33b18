// A file of one update as a lone agent would send it: what `tributary codec encode` writes and
// `tributary codec decode` reads. It names its codec, and is read and written with bounded memory.
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

struct EncodedFileOptions {
  std::uint32_t bucket_values = 16u << 20;  // 64 MiB of float32
  std::uint64_t job_seed = 1;
  std::uint64_t round = 0;
};

// How the work is done; it changes no byte of the outcome.
struct EncodedFileWork {
  Execution execution = {};
  // Called when some more buckets are done; returns false to stop.
  std::function<bool(std::uint64_t values_done, std::uint64_t values)> progress = {};
};

// `floats` is little-endian float32.
Status encode_file(const Codec& codec, const EncodedFileOptions& options, const ByteSource& floats,
                   const EncodedFileWork& work, ByteSink encoded);

// Trusts nothing in `encoded`. What the sink was given before an error is of no use.
Result<EncodedFileHeader> decode_file(const ByteSource& encoded, const EncodedFileWork& work,
                                      ByteSink floats);

}  // namespace tributary
