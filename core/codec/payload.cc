#include "core/codec/payload.h"

#include <fmt/format.h>

#include <cassert>

#include "core/base/bytes/checksum.h"
#include "core/codec/chunks.h"

namespace tributary {
namespace {

constexpr std::uint16_t kMagic = 0x5254;  // "TR"
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kLayoutOffset = 4;
constexpr std::size_t kContributorsOffset = 8;
constexpr std::size_t kChecksumOffset = 20;
// The body is hashed in blocks, so that threads can share the work. The size is part of the format:
// another one gives another checksum.
constexpr std::size_t kHashBlockBytes = 256 * 1024;

// The body begins at a multiple of 8 bytes, so that it can be read in place.
std::size_t header_bytes(std::size_t spec_bytes) {
  return kPayloadFixedHeaderBytes + (spec_bytes + 7) / 8 * 8;
}

// Fields are copied with memcpy, because a payload is an array of bytes.
template <typename T>
void put(MutableByteSpan out, std::size_t offset, T value) {
  std::memcpy(out.data() + offset, &value, sizeof(T));
}

template <typename T>
T get(ByteSpan in, std::size_t offset) {
  T value;
  std::memcpy(&value, in.data() + offset, sizeof(T));
  return value;
}

std::size_t hash_blocks(ByteSpan body) {
  return (body.size() + kHashBlockBytes - 1) / kHashBlockBytes;
}

std::uint32_t block_hash(ByteSpan body, std::size_t block) {
  const std::size_t begin = block * kHashBlockBytes;
  return checksum32(body.subspan(begin, std::min(kHashBlockBytes, body.size() - begin)));
}

// Covers the header except the checksum field, and then the hashes of the body's blocks.
std::uint32_t payload_checksum(ByteSpan header, std::span<const std::uint32_t> blocks) {
  Checksum all;
  all.update(header.first(kChecksumOffset));
  all.update(header.subspan(kPayloadFixedHeaderBytes));
  all.update(bytes_of(blocks));
  return all.finish();
}

std::uint32_t payload_checksum(const Execution& execution, ByteSpan payload, std::size_t header) {
  const ByteSpan body = payload.subspan(header);
  std::vector<std::uint32_t> blocks(hash_blocks(body));
  for_each_chunk(execution, blocks.size(), 1, [&](std::size_t block, std::size_t, std::size_t) {
    blocks[block] = block_hash(body, block);
  });
  return payload_checksum(payload.first(header), blocks);
}

// All damage has the same remedy: the sender repeats the payload.
Status corrupt_payload(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have the bucket sent again"});
}

// Every check below runs before any size from the header is used.
Status check_fixed_header(ByteSpan payload) {
  if (reinterpret_cast<std::uintptr_t>(payload.data()) % kPayloadAlignment != 0) {
    return Status(StatusCode::invalid_argument,
                  {.what = "payload's place in memory",
                   .expected = fmt::format("a multiple of {} bytes", kPayloadAlignment),
                   .got = "another",
                   .remedy = "copy the payload into a Bytes"});
  }
  if (payload.size() < kPayloadFixedHeaderBytes) {
    return corrupt_payload("payload header",
                           fmt::format("{} bytes or more", kPayloadFixedHeaderBytes),
                           fmt::format("{}", payload.size()));
  }
  if (payload.size() > kPayloadBytesMax) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "payload",
                   .expected = fmt::format("at most {} bytes", kPayloadBytesMax),
                   .got = fmt::format("{}", payload.size()),
                   .remedy = "use smaller buckets"});
  }
  if (get<std::uint16_t>(payload, 0) != kMagic) {
    return corrupt_payload("payload header, byte 0", "the magic \"TR\"",
                           fmt::format("{:#06x}", get<std::uint16_t>(payload, 0)));
  }
  if (get<std::uint8_t>(payload, 2) != kVersion) {
    return Status(StatusCode::unsupported,
                  {.what = "payload header, byte 2",
                   .expected = fmt::format("version {}", kVersion),
                   .got = fmt::format("{}", get<std::uint8_t>(payload, 2)),
                   .remedy = "let the older side catch up to the newer one's release"});
  }
  if (get<std::uint16_t>(payload, 6) != 0) {
    return corrupt_payload("payload header, byte 6", "zero", "something else");
  }
  return {};
}

// Checks the fields that depend on one another, after the fixed header was checked.
Status check_sizes(ByteSpan payload, const PayloadHeader& header, std::size_t body_bytes) {
  const std::size_t prefix = header_bytes(header.spec.size());
  if (payload.size() - prefix != body_bytes) {
    return corrupt_payload("payload body", fmt::format("{} bytes, as the header says", body_bytes),
                           fmt::format("{}", payload.size() - prefix));
  }
  if (header.values > kBucketValuesMax) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "payload header, byte 12",
                   .expected = fmt::format("at most {} values in a bucket", kBucketValuesMax),
                   .got = fmt::format("{}", header.values),
                   .remedy = "use smaller buckets"});
  }
  if (header.contributors == 0 || header.contributors > kContributorsMax) {
    return corrupt_payload("payload header, byte 8",
                           fmt::format("1 to {} contributors", kContributorsMax),
                           fmt::format("{}", header.contributors));
  }
  return {};
}

// Checks everything except the checksum.
Result<OpenPayload> open_envelope(ByteSpan payload) {
  TRIBUTARY_TRY(check_fixed_header(payload));
  const std::size_t spec_bytes = get<std::uint8_t>(payload, 5);
  const std::size_t prefix = header_bytes(spec_bytes);
  if (spec_bytes == 0 || spec_bytes > kSpecBytesMax || payload.size() < prefix) {
    return corrupt_payload("payload header, byte 5",
                           fmt::format("a spec of 1 to {} bytes within the payload", kSpecBytesMax),
                           fmt::format("{} in a payload of {}", spec_bytes, payload.size()));
  }
  for (std::size_t i = kPayloadFixedHeaderBytes + spec_bytes; i < prefix; ++i) {
    if (payload[i] != 0)
      return corrupt_payload("padding behind the spec", "zero bytes", "something else");
  }
  OpenPayload open;
  open.header.spec = {reinterpret_cast<const char*>(payload.data()) + kPayloadFixedHeaderBytes,
                      spec_bytes};
  open.header.stage = get<std::uint8_t>(payload, 3);
  open.header.layout = get<std::uint8_t>(payload, kLayoutOffset);
  open.header.contributors = get<std::uint32_t>(payload, kContributorsOffset);
  open.header.values = get<std::uint32_t>(payload, 12);
  open.body = payload.subspan(prefix);
  TRIBUTARY_TRY(check_sizes(payload, open.header, get<std::uint32_t>(payload, 16)));
  return open;
}

Status compare_checksum(ByteSpan payload, std::uint32_t found) {
  // The checksum is not secret, so a plain comparison is enough.
  const std::uint32_t stated = get<std::uint32_t>(payload, kChecksumOffset);
  if (stated == found) return {};
  return corrupt_payload("payload checksum", fmt::format("{:#010x}", stated),
                         fmt::format("{:#010x}", found));
}

// Returns mismatch unless the payload has the codec, the stage and the number of values that the
// caller expects.
Status check_expected(const PayloadHeader& header, const Codec& codec, std::size_t stage,
                      std::size_t values) {
  const auto mismatch = [](std::string what, std::string expected, std::string got) {
    return Status(StatusCode::mismatch, {.what = std::move(what),
                                         .expected = std::move(expected),
                                         .got = std::move(got),
                                         .remedy = "encode and decode by the same plan"});
  };
  if (header.spec != codec.spec()) {
    return mismatch("payload's codec", codec.spec(), std::string(header.spec));
  }
  if (header.stage != stage) {
    return mismatch("payload's stage", fmt::format("{}", stage), fmt::format("{}", header.stage));
  }
  if (header.values != values) {
    return mismatch("payload's bucket", fmt::format("{} values", values),
                    fmt::format("{}", header.values));
  }
  return {};
}

}  // namespace

MutableByteSpan start_payload(const PayloadHeader& header, std::size_t body_bytes, Bytes& payload) {
  assert(!header.spec.empty() && header.spec.size() <= kSpecBytesMax);
  const std::size_t prefix = header_bytes(header.spec.size());
  payload.resize(prefix + body_bytes);
  const MutableByteSpan out(payload);
  put(out, 0, kMagic);
  put(out, 2, kVersion);
  put(out, 3, header.stage);
  put(out, kLayoutOffset, header.layout);
  put(out, 5, static_cast<std::uint8_t>(header.spec.size()));
  put(out, 6, std::uint16_t{0});
  put(out, kContributorsOffset, header.contributors);
  put(out, 12, header.values);
  put(out, 16, static_cast<std::uint32_t>(body_bytes));
  put(out, kChecksumOffset, std::uint32_t{0});
  // The padding must be zero, because the buffer is not initialized and readers check it.
  std::memset(out.data() + kPayloadFixedHeaderBytes, 0, prefix - kPayloadFixedHeaderBytes);
  std::memcpy(out.data() + kPayloadFixedHeaderBytes, header.spec.data(), header.spec.size());
  return out.subspan(prefix);
}

void shrink_body(std::size_t body_bytes, Bytes& payload) {
  const std::size_t prefix = header_bytes(payload[5]);
  assert(prefix + body_bytes <= payload.size());
  payload.resize(prefix + body_bytes);
  put(MutableByteSpan(payload), 16, static_cast<std::uint32_t>(body_bytes));
}

void set_layout(std::uint8_t layout, Bytes& payload) {
  put(MutableByteSpan(payload), kLayoutOffset, layout);
}

void set_contributors(std::uint32_t contributors, Bytes& payload) {
  put(MutableByteSpan(payload), kContributorsOffset, contributors);
}

void seal_payload(const Execution& execution, Bytes& payload) {
  // The minimum only protects against a payload that start_payload() did not make.
  const std::size_t prefix = std::min(header_bytes(payload[5]), payload.size());
  put(MutableByteSpan(payload), kChecksumOffset, payload_checksum(execution, payload, prefix));
}

Result<OpenPayload> open_payload(const Execution& execution, ByteSpan payload) {
  TRIBUTARY_ASSIGN(const OpenPayload open, open_envelope(payload));
  const std::size_t header = payload.size() - open.body.size();
  TRIBUTARY_TRY(compare_checksum(payload, payload_checksum(execution, payload, header)));
  return open;
}

std::uint32_t contributors_stated(ByteSpan payload) {
  if (payload.size() < kPayloadFixedHeaderBytes) return 0;
  return get<std::uint32_t>(payload, kContributorsOffset);
}

Result<OpenPayload> open_payload_of(const Codec& codec, std::size_t stage, std::size_t values,
                                    const Execution& execution, ByteSpan payload) {
  TRIBUTARY_ASSIGN(const OpenPayload open, open_payload(execution, payload));
  TRIBUTARY_TRY(check_expected(open.header, codec, stage, values));
  return open;
}

UncheckedPayload::UncheckedPayload(ByteSpan payload, const OpenPayload& open)
    : payload_(payload),
      open_(open),
      hashes_(hash_blocks(open.body)),
      hashed_(hash_blocks(open.body)) {}

Result<UncheckedPayload> UncheckedPayload::open(const Codec& codec, std::size_t stage,
                                                std::size_t values, const Execution& execution,
                                                ByteSpan payload) {
  TRIBUTARY_ASSIGN(const OpenPayload open, open_envelope(payload));
  UncheckedPayload unchecked(payload, open);
  if (Status expected = check_expected(open.header, codec, stage, values); !expected.ok()) {
    TRIBUTARY_TRY(unchecked.check(execution));  // damage explains more than a different plan
    return expected;
  }
  return unchecked;
}

// A block belongs to the range in which it begins, so that consecutive ranges hash each block once.
void UncheckedPayload::hash(std::size_t begin, std::size_t end) {
  for (std::size_t block = (begin + kHashBlockBytes - 1) / kHashBlockBytes;
       block * kHashBlockBytes < end; ++block) {
    hashes_[block] = block_hash(open_.body, block);
    hashed_[block] = 1;
  }
}

Status UncheckedPayload::check(const Execution& execution) {
  // The decoder may have skipped blocks, for example after it found a fault.
  for_each_chunk(execution, hashes_.size(), 1, [&](std::size_t block, std::size_t, std::size_t) {
    if (hashed_[block] == 0) hash(block * kHashBlockBytes, block * kHashBlockBytes + 1);
  });
  const ByteSpan header = payload_.first(payload_.size() - open_.body.size());
  return compare_checksum(payload_, payload_checksum(header, hashes_));
}

Status wrong_body_size(std::string_view what, std::size_t expected, std::size_t got) {
  return corrupt_payload(std::string(what), fmt::format("{} bytes", expected),
                         fmt::format("{}", got));
}

}  // namespace tributary
