#include "core/codec/file/encoded_file_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes/checksum.h"
#include "core/codec/payload.h"

namespace tributary {
namespace {

constexpr std::string_view kFileMagic = "TRIBFILE";
constexpr std::uint16_t kFileVersion = 1;
constexpr std::size_t kFixedBytes = 48;
constexpr std::size_t kFileChecksumOffset = 44;

// The first record begins at a multiple of 8 bytes, so payloads stay aligned.
constexpr std::size_t file_header_bytes(std::size_t spec_bytes) {
  return kFixedBytes + (spec_bytes + 7) / 8 * 8;
}

template <typename T>
T field_at(ByteSpan in, std::size_t offset) {
  T value;
  std::memcpy(&value, in.data() + offset, sizeof(T));
  return value;
}

// Covers everything except the checksum field itself.
std::uint32_t header_checksum(ByteSpan header) {
  Checksum sum;
  sum.update(header.first(kFileChecksumOffset));
  sum.update(header.subspan(kFixedBytes));
  return sum.finish();
}

Status too_short(std::size_t needed, std::uint64_t size) {
  return corrupt_encoded_file(size, fmt::format("a header of {} bytes", needed), "the end");
}

// Reads the header's bytes. The result is complete, of a known version, and has a correct checksum.
Result<Bytes> read_bytes(const ByteSource& source) {
  if (source.size() < kFixedBytes) return too_short(kFixedBytes, source.size());
  Bytes bytes(kFixedBytes);
  TRIBUTARY_TRY(source.read(0, bytes));
  if (!std::ranges::equal(ByteSpan(bytes).first(kFileMagic.size()), bytes_of(kFileMagic))) {
    return corrupt_encoded_file(0, fmt::format("the magic \"{}\"", kFileMagic),
                                "something else: 'tributary codec encode' did not write it");
  }
  if (const auto version = field_at<std::uint16_t>(bytes, 8); version != kFileVersion) {
    return Status(StatusCode::unsupported, {.what = "encoded file, byte 8",
                                            .expected = fmt::format("version {}", kFileVersion),
                                            .got = fmt::format("{}", version),
                                            .remedy = "decode it with the release that wrote it"});
  }
  const std::size_t spec_bytes = field_at<std::uint16_t>(bytes, 10);
  if (spec_bytes == 0 || spec_bytes > kSpecBytesMax) {
    return corrupt_encoded_file(10, fmt::format("a spec of 1 to {} bytes", kSpecBytesMax),
                                fmt::format("{}", spec_bytes));
  }
  bytes.resize(file_header_bytes(spec_bytes));
  if (source.size() < bytes.size()) return too_short(bytes.size(), source.size());
  TRIBUTARY_TRY(source.read(0, bytes));
  const auto stated = field_at<std::uint32_t>(bytes, kFileChecksumOffset);
  if (const std::uint32_t found = header_checksum(bytes); stated != found) {
    return corrupt_encoded_file(kFileChecksumOffset,
                                fmt::format("the header's checksum, {:#010x}", found),
                                fmt::format("{:#010x}", stated));
  }
  return bytes;
}

Status check_padding(ByteSpan bytes, std::size_t from) {
  for (std::size_t i = from; i < bytes.size(); ++i) {
    if (bytes[i] != 0) return corrupt_encoded_file(i, "zero", fmt::format("{}", bytes[i]));
  }
  return {};
}

}  // namespace

std::uint64_t EncodedFileHeader::buckets() const {
  // Written without the usual rounding sum, which could overflow for hostile headers.
  return values / bucket_values + (values % bucket_values != 0 ? 1 : 0);
}

std::uint32_t EncodedFileHeader::values_of_bucket(std::uint64_t bucket) const {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(bucket_values, values - bucket * bucket_values));
}

Bytes encoded_file_header_bytes(const EncodedFileHeader& header) {
  // Zero-filled, so that the reserved field and the padding are zero.
  Bytes out(file_header_bytes(header.spec.size()), 0);
  const auto put = [&](std::size_t offset, auto value) {
    std::memcpy(out.data() + offset, &value, sizeof(value));
  };
  std::ranges::copy(bytes_of(kFileMagic), out.begin());
  put(8, kFileVersion);
  put(10, static_cast<std::uint16_t>(header.spec.size()));
  put(12, header.bucket_values);
  put(16, header.values);
  put(24, header.job_seed);
  put(32, header.round);
  std::ranges::copy(bytes_of(header.spec), out.begin() + kFixedBytes);
  put(kFileChecksumOffset, header_checksum(out));
  return out;
}

Result<ReadEncodedFileHeader> read_encoded_file_header(const ByteSource& source) {
  TRIBUTARY_ASSIGN(const Bytes bytes, read_bytes(source));
  const std::size_t spec_bytes = field_at<std::uint16_t>(bytes, 10);
  TRIBUTARY_TRY(check_padding(ByteSpan(bytes).first(kFileChecksumOffset), 40));
  TRIBUTARY_TRY(check_padding(bytes, kFixedBytes + spec_bytes));
  EncodedFileHeader header;
  header.spec.assign(reinterpret_cast<const char*>(bytes.data()) + kFixedBytes, spec_bytes);
  header.bucket_values = field_at<std::uint32_t>(bytes, 12);
  header.values = field_at<std::uint64_t>(bytes, 16);
  header.job_seed = field_at<std::uint64_t>(bytes, 24);
  header.round = field_at<std::uint64_t>(bytes, 32);
  if (header.bucket_values == 0 || header.bucket_values > kBucketValuesMax) {
    return corrupt_encoded_file(12, fmt::format("1 to {} values in a bucket", kBucketValuesMax),
                                fmt::format("{}", header.bucket_values));
  }
  if (header.buckets() > kEncodedFileBucketsMax) {
    return corrupt_encoded_file(16, fmt::format("at most {} buckets", kEncodedFileBucketsMax),
                                fmt::format("{}", header.buckets()));
  }
  return ReadEncodedFileHeader{.header = std::move(header), .bytes = bytes.size()};
}

Status corrupt_encoded_file(std::uint64_t place, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data,
                {.what = fmt::format("encoded file, byte {}", place),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "copy the file again, or encode the update again"});
}

}  // namespace tributary
