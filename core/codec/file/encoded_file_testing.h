// Encoded files in memory, for tests and fuzzers only.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/codec/file/encoded_file.h"
#include "core/codec/payload.h"

namespace tributary::encoded_file_testing {

// A source over bytes that the caller owns.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(ByteSpan bytes) : bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }
  Status read(std::uint64_t offset, MutableByteSpan out) const override {
    if (offset > bytes_.size() || bytes_.size() - offset < out.size()) {
      return Status(StatusCode::io_error, {.what = "a read past the end"});
    }
    std::ranges::copy(bytes_.subspan(offset, out.size()), out.begin());
    return {};
  }

 private:
  ByteSpan bytes_;
};

inline Result<Bytes> encode(const Codec& codec, const EncodedFileOptions& options,
                            std::span<const float> values, const EncodedFileWork& work = {}) {
  Bytes out;
  TRIBUTARY_TRY(encode_file(codec, options, MemorySource(bytes_of(values)), work,
                            [&](ByteSpan piece) -> Status {
                              out.insert(out.end(), piece.begin(), piece.end());
                              return {};
                            }));
  return out;
}

inline Result<FloatVector> decode(ByteSpan encoded, const EncodedFileWork& work = {}) {
  Bytes out;
  const auto header = decode_file(MemorySource(encoded), work, [&](ByteSpan piece) -> Status {
    out.insert(out.end(), piece.begin(), piece.end());
    return {};
  });
  if (!header.ok()) return header.status();
  if (out.size() != header.value().values * sizeof(float)) {
    return Status(StatusCode::mismatch, {.what = "decoded values and the header's claim"});
  }
  FloatVector values(out.size() / sizeof(float));
  std::ranges::copy(out, reinterpret_cast<std::uint8_t*>(values.data()));
  return values;
}

// Corrects every checksum in the file, so that a test reaches the checks behind the checksums.
// Stops at the first record that does not fit in the file.
inline void make_checksums_fit(Bytes& file) {
  const auto get = [&](std::size_t offset, auto value) {
    std::memcpy(&value, file.data() + offset, sizeof(value));
    return value;
  };
  if (file.size() < 48) return;
  const std::size_t header = 48 + (std::size_t{get(10, std::uint16_t{})} + 7) / 8 * 8;
  if (file.size() < header) return;
  Checksum sum;
  sum.update(ByteSpan(file).first(44));
  sum.update(ByteSpan(file).subspan(48, header - 48));
  const std::uint32_t checksum = sum.finish();
  std::memcpy(file.data() + 44, &checksum, sizeof(checksum));
  for (std::size_t place = header; file.size() - place >= 8;) {
    const std::uint64_t bytes = get(place, std::uint32_t{});
    place += 8;
    if (bytes < kPayloadFixedHeaderBytes || bytes > file.size() - place) return;
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(place);
    Bytes payload(begin, begin + static_cast<std::ptrdiff_t>(bytes));
    seal_payload({}, payload);
    std::ranges::copy(payload, begin);
    place = std::min<std::size_t>(place + (bytes + 7) / 8 * 8, file.size());
  }
}

}  // namespace tributary::encoded_file_testing
