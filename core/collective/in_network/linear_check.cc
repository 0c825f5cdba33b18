#include "core/collective/in_network/linear_check.h"

#include <algorithm>

#include "core/base/bytes/checksum.h"
#include "core/collective/in_network/add_levels.h"

namespace tributary::in_network {
namespace {

// Reduces a number below 2^64.
std::uint64_t linear_reduced(std::uint64_t x) {
  x = (x & kLinearPrime) + (x >> 61);
  return x >= kLinearPrime ? x - kLinearPrime : x;
}

std::uint64_t joined(const SplitSum& sum) {
  return linear_plus(linear_reduced(sum.low),
                     linear_times(linear_reduced(sum.high), std::uint64_t{1} << 32));
}

}  // namespace

std::uint64_t linear_times(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  const auto low = static_cast<std::uint64_t>(product) & kLinearPrime;
  const auto high = static_cast<std::uint64_t>(product >> 61);
  return linear_reduced(low + high);
}

std::uint64_t linear_plus(std::uint64_t a, std::uint64_t b) { return linear_reduced(a + b); }

LinearCheck::LinearCheck(std::uint64_t secret) : point_(1 + secret % (kLinearPrime - 1)) {
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < kLinearBlock; ++i) {
    powers_.low[i] = static_cast<std::uint32_t>(power & 0xffffffffu);
    powers_.high[i] = static_cast<std::uint32_t>(power >> 32);
    power = linear_times(power, point_);
  }
  step_ = power;
}

std::uint64_t LinearCheck::next_block(std::uint64_t total, std::uint64_t block,
                                      std::uint64_t& scale) const {
  total = linear_plus(total, linear_times(block, scale));
  scale = linear_times(scale, step_);
  return total;
}

template <typename Value, typename Dot>
std::uint64_t LinearCheck::combine(std::span<const Value> values, const Dot& dot) const {
  std::uint64_t total = 0;
  std::uint64_t scale = 1;
  for (std::size_t first = 0; first < values.size(); first += kLinearBlock) {
    const std::size_t n = std::min(kLinearBlock, values.size() - first);
    total = next_block(total, joined(dot(powers_, values.data() + first, n)), scale);
  }
  return total;
}

std::uint64_t LinearCheck::of(std::span<const std::uint8_t> values) const {
  return combine(values, split_dot8);
}
std::uint64_t LinearCheck::of(std::span<const std::uint16_t> values) const {
  return combine(values, split_dot16);
}

std::uint64_t LinearCheck::of(std::span<const std::uint32_t> values) const {
  std::uint64_t total = 0;
  for (std::size_t i = values.size(); i > 0; --i) {  // Horner, from the highest power
    total = linear_plus(linear_times(total, point_), values[i - 1]);
  }
  return total;
}

std::uint64_t LinearCheck::of_levels(ByteSpan packed,
                                     const std::array<std::uint16_t, 16>& places) const {
  std::uint64_t total = 0;
  std::uint64_t scale = 1;
  const Places split = Places::of(places);
  alignas(64) std::array<std::uint16_t, kLinearBlock> values;
  for (std::size_t first = 0; first < packed.size(); first += kLinearBlock / 2) {
    const std::size_t n = 2 * std::min(kLinearBlock / 2, packed.size() - first);
    const std::size_t whole = n / 64 * 64;
    set_levels16(packed.data() + first, whole, split,
                 reinterpret_cast<std::uint8_t*>(values.data()));
    for (std::size_t i = whole; i < n; ++i) {
      values[i] = places[packed[first + i / 2] >> (i % 2 * 4) & 15];
    }
    total = next_block(total, joined(split_dot16(powers_, values.data(), n)), scale);
  }
  return total;
}

namespace {

std::uint64_t secret_of_bucket(std::uint64_t attempt_secret, std::uint32_t bucket) {
  Checksum checksum;
  checksum.update({reinterpret_cast<const std::uint8_t*>(&attempt_secret), sizeof(attempt_secret)});
  checksum.update({reinterpret_cast<const std::uint8_t*>(&bucket), sizeof(bucket)});
  return checksum.finish64();
}

}  // namespace

BucketCheck::BucketCheck(std::uint64_t attempt_secret, std::uint32_t bucket)
    : check_(secret_of_bucket(attempt_secret, bucket)) {}

std::uint64_t BucketCheck::of_levels(ByteSpan packed,
                                     const std::array<std::uint16_t, 16>& places) const {
  return linear_times(check_.of_levels(packed, places), check_.point());
}

std::uint64_t BucketCheck::of_sums(ByteSpan sums, bool wide) const {
  const std::uint64_t combined =
      wide ? check_.of(std::span(reinterpret_cast<const std::uint16_t*>(sums.data()),
                                 sums.size() / sizeof(std::uint16_t)))
           : check_.of(std::span<const std::uint8_t>(sums));
  return linear_times(combined, check_.point());
}

bool sums_agree(std::span<const std::uint64_t> sent, std::uint64_t got) {
  std::uint64_t total = 0;
  for (const std::uint64_t one : sent) total = linear_plus(total, one);
  return total == got;
}

}  // namespace tributary::in_network
