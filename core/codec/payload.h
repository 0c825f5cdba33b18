// The envelope of every encoded bucket: a versioned header that names the codec, followed by the
// codec's body. Integers are little-endian.
//
//   byte  0  u16  magic "TR"
//         2  u8   version (1)
//         3  u8   stage
//         4  u8   layout: which of the codec's body formats follows
//         5  u8   length of the spec string
//         6  u16  zero
//         8  u32  contributors: number of agents whose updates the body contains
//        12  u32  values in the bucket
//        16  u32  bytes of body
//        20  u32  checksum of all other bytes
//        24       canonical spec string, zero-padded to a multiple of 8; then the body
//
// The spec string contains the codec's parameters. A stored payload can therefore be decoded
// without other records, and an encoder and a decoder with different plans detect this at once.
//
// Thread safety: none of the functions has state of its own; a payload may be written by one thread
// at a time. Readers trust no field: sizes above the limits below give resource_exhausted, a
// different version gives unsupported, other damage gives corrupt_data, a payload of another codec,
// stage or bucket gives mismatch.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary {

constexpr std::uint32_t kBucketValuesMax = 1u << 26;  // 256 MiB of float32
constexpr std::size_t kPayloadBytesMax = 1ull << 30;  // 16 bytes per value of the largest bucket
constexpr std::size_t kPayloadAlignment = 8;          // in bytes: decoders read bodies in place
constexpr std::uint32_t kContributorsMax = 1u << 20;
constexpr std::size_t kPayloadFixedHeaderBytes = 24;
constexpr std::size_t kSpecBytesMax = 200;

struct PayloadHeader {
  std::string_view spec;
  std::uint8_t stage = 0;
  std::uint8_t layout = 0;
  std::uint32_t contributors = 1;
  std::uint32_t values = 0;
};

struct OpenPayload {
  PayloadHeader header;  // header.spec points into the payload
  ByteSpan body;
};

// Resizes `payload` to the header and `body_bytes`, writes the header and returns the body for the
// caller to fill. The span is valid until the payload is resized.
MutableByteSpan start_payload(const PayloadHeader& header, std::size_t body_bytes, Bytes& payload);

// Shortens the body of a started payload to the number of bytes that were written.
void shrink_body(std::size_t body_bytes, Bytes& payload);

// Changes the layout of a started payload, for encoders that choose it while they write the body.
void set_layout(std::uint8_t layout, Bytes& payload);

// Changes the number of contributors of a started payload.
void set_contributors(std::uint32_t contributors, Bytes& payload);

// Writes the checksum. No byte of the payload may change afterwards.
void seal_payload(const Execution& execution, Bytes& payload);

// Checks the envelope and the checksum. The body remains untrusted: the checksum detects accidents,
// but an attacker can compute a valid one. The result points into `payload`, which must be aligned
// to kPayloadAlignment (otherwise invalid_argument).
Result<OpenPayload> open_payload(const Execution& execution, ByteSpan payload);

// Does the same, and also requires the given codec, stage and number of values (otherwise
// mismatch).
Result<OpenPayload> open_payload_of(const Codec& codec, std::size_t stage, std::size_t values,
                                    const Execution& execution, ByteSpan payload);

// The number of contributors that the header of an unopened payload states; 0 if the payload is too
// short. The number is unchecked.
std::uint32_t contributors_stated(ByteSpan payload);

// A payload whose checksum has not been verified yet. A decoder hashes the body while it reads it,
// so that each byte is loaded into the cache once. The decoded values are valid only after check()
// has succeeded. The payload's bytes belong to the caller and must outlive this object.
class UncheckedPayload {
 public:
  // Checks the envelope, and requires the given codec, stage and number of values.
  static Result<UncheckedPayload> open(const Codec& codec, std::size_t stage, std::size_t values,
                                       const Execution& execution, ByteSpan payload);

  const PayloadHeader& header() const { return open_.header; }
  ByteSpan body() const { return open_.body; }
  const OpenPayload& opened() const { return open_; }

  // Hashes the blocks that begin within bytes [begin, end) of the body. Several threads may call
  // this at once for disjoint ranges.
  void hash(std::size_t begin, std::size_t end);

  // Hashes the blocks that hash() did not cover and compares the checksum. Called once, after all
  // hash() calls have returned.
  Status check(const Execution& execution);

 private:
  UncheckedPayload(ByteSpan payload, const OpenPayload& open);

  ByteSpan payload_;
  OpenPayload open_;
  // One per block of the body. hashed_ is not a vector<bool>, because threads write to neighbouring
  // elements.
  std::vector<std::uint32_t> hashes_;
  std::vector<std::uint8_t> hashed_;
};

// A corrupt_data status that states the expected size of the body.
Status wrong_body_size(std::string_view what, std::size_t expected, std::size_t got);

}  // namespace tributary
