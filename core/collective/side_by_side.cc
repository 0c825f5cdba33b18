#include "core/collective/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tributary {
namespace {

// The form: the number of payloads (4 bytes), four zero bytes, the size of each payload (8 bytes
// each), and then the payloads, each filled up with zeros to a multiple of 8 bytes.
constexpr std::size_t kPairHeaderBytes = 8;
constexpr std::size_t kSizeBytes = 8;

// Payloads are read in place, so each begins at a multiple of 8.
constexpr std::size_t filled_up(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

Status misfit(std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = "payloads side by side",
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have them sent again"});
}

}  // namespace

Bytes join_payloads(std::span<const ByteSpan> payloads) {
  std::size_t bytes = kPairHeaderBytes + payloads.size() * kSizeBytes;
  for (const ByteSpan payload : payloads) bytes += filled_up(payload.size());
  Bytes joined(bytes, 0);
  std::uint8_t* at = joined.data();
  const auto count = static_cast<std::uint32_t>(payloads.size());
  std::memcpy(at, &count, sizeof(count));
  at += kPairHeaderBytes;
  for (const ByteSpan payload : payloads) {
    const std::uint64_t size = payload.size();
    std::memcpy(at, &size, sizeof(size));
    at += kSizeBytes;
  }
  for (const ByteSpan payload : payloads) {
    std::ranges::copy(payload, at);
    at += filled_up(payload.size());
  }
  return joined;
}

// The count must be the expected one before anything is allocated for it.
Result<std::vector<ByteSpan>> split_payloads(ByteSpan joined, std::uint32_t expected) {
  ByteReader reader(joined);
  TRIBUTARY_ASSIGN(const auto count, reader.read<std::uint32_t>("number of payloads"));
  TRIBUTARY_ASSIGN(const auto zero, reader.read<std::uint32_t>("zero"));
  if (count != expected || zero != 0) {
    return misfit(fmt::format("{} of them", expected), fmt::format("{}", count));
  }
  TRIBUTARY_ASSIGN(ByteSpan sizes, reader.take(count * kSizeBytes, "sizes of payloads"));
  std::vector<ByteSpan> payloads;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t size = 0;
    std::memcpy(&size, sizes.data() + i * kSizeBytes, sizeof(size));
    // Checked first, so that rounding up cannot overflow.
    if (size > joined.size()) return misfit("sizes of what follows", "more");
    TRIBUTARY_ASSIGN(const ByteSpan filled, reader.take(filled_up(size), "a payload"));
    payloads.push_back(filled.first(size));
  }
  TRIBUTARY_TRY(reader.expect_end("payloads side by side"));
  return payloads;
}

}  // namespace tributary
