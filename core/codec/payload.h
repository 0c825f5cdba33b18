// The envelope of every encoded bucket: a small versioned header that says which codec made it,
// then that codec's body.
//
//   byte  0  u16  magic "TR"
//         2  u8   version (1)
//         3  u8   stage
//         4  u8   layout: the codec's own choice among its body formats
//         5  u8   length of the spec string
//         6  u16  zero
//         8  u32  contributors: how many agents' updates are in it
//        12  u32  values in the bucket
//        16  u32  bytes of body
//        20  u32  checksum of everything else
//        24       canonical spec string, zero-padded to a multiple of 8; then the body
//
// The spec string names the codec and its parameters, so that a payload can be read years later by
// nothing but itself, and so that an encoder and a decoder that disagree find out at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary {

constexpr std::uint32_t kBucketValuesMax = 1u << 26;  // 256 MiB of float32
constexpr std::size_t kPayloadBytesMax = 1ull << 30;  // no codec needs 16 bytes per value
constexpr std::size_t kPayloadAlignment = 8;          // bodies are read in place
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
  PayloadHeader header;  // its spec points into the payload
  ByteSpan body;
};

// Sizes `payload` for the header and `body_bytes`, writes the header, and returns the body to fill.
MutableByteSpan start_payload(const PayloadHeader& header, std::size_t body_bytes, Bytes& payload);

// Shortens the body of a started payload to what was really written.
void shrink_body(std::size_t body_bytes, Bytes& payload);

// Says what a started payload's body has become.
void set_layout(std::uint8_t layout, Bytes& payload);

// Says how many contributions a started payload has come to hold.
void set_contributors(std::uint32_t contributors, Bytes& payload);

// Writes the checksum; the last thing done to a payload.
void seal_payload(const Execution& execution, Bytes& payload);

// Checks the envelope and the checksum. Whoever reads the body still trusts nothing in it: a
// checksum keeps out accidents, not liars.
Result<OpenPayload> open_payload(const Execution& execution, ByteSpan payload);

// The same, and that the payload is what this codec expects at this place.
Result<OpenPayload> open_payload_of(const Codec& codec, std::size_t stage, std::size_t values,
                                    const Execution& execution, ByteSpan payload);

// How many contributors a payload that nobody has opened yet says it has; 0 where it is too short.
std::uint32_t contributors_said(ByteSpan payload);

// A payload whose checksum is still to be checked. A decoder that reads the body anyway hashes it
// on the way, while it is in the cache; what it has decoded counts once check() says so.
class UncheckedPayload {
 public:
  // Checks the envelope, and that the payload is what this codec expects at this place.
  static Result<UncheckedPayload> open(const Codec& codec, std::size_t stage, std::size_t values,
                                       const Execution& execution, ByteSpan payload);

  const PayloadHeader& header() const { return open_.header; }
  ByteSpan body() const { return open_.body; }

  // Hashes the blocks that begin within these bytes of the body. Threads may hash different ones at
  // the same time.
  void hash(std::size_t begin, std::size_t end);

  // Hashes what is left and compares.
  Status check(const Execution& execution);

 private:
  UncheckedPayload(ByteSpan payload, const OpenPayload& open);

  ByteSpan payload_;
  OpenPayload open_;
  std::vector<std::uint32_t> hashes_;
  std::vector<std::uint8_t> hashed_;  // no vector<bool>: threads write to it
};

// An error that says which body size this codec expected.
Status wrong_body_size(std::string_view what, std::size_t expected, std::size_t got);

}  // namespace tributary
