// A linear check of sums that an untrusted aggregator has made.
//
// Every value i has the coefficient s^i over the prime field of 2^61 - 1. The point s is secret,
// drawn per attempt and bucket. An agent reports the combination of what it sent and of what it
// got; the first ones must add up to each of the second ones. A wrong sum of n values passes for at
// most n of 2^61 points.
//
// The functions are pure, fail never and cost one pass over the values. They allocate only in the
// constructor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes/bytes.h"

namespace tributary::in_network {

inline constexpr std::uint64_t kLinearPrime = (std::uint64_t{1} << 61) - 1;
inline constexpr std::size_t kLinearBlock = 1024;  // values per step of the outer loop

// a b and a + b modulo the prime; both are below it.
std::uint64_t linear_times(std::uint64_t a, std::uint64_t b);
std::uint64_t linear_plus(std::uint64_t a, std::uint64_t b);

// Powers s^0 ... s^(kLinearBlock - 1) in two halves of at most 32 bits, for products in registers.
struct SplitPowers {
  alignas(64) std::array<std::uint32_t, kLinearBlock> low;
  alignas(64) std::array<std::uint32_t, kLinearBlock> high;
};
struct SplitSum {
  std::uint64_t low;
  std::uint64_t high;
};
// Sums of power halves times values. n is at most kLinearBlock.
SplitSum split_dot8(const SplitPowers& powers, const std::uint8_t* values, std::size_t n);
SplitSum split_dot16(const SplitPowers& powers, const std::uint16_t* values, std::size_t n);

// The coefficients of one attempt and bucket. Immutable; threads may share it.
class LinearCheck {
 public:
  // Any 64 random bits; they become a point from 1 to p - 1.
  explicit LinearCheck(std::uint64_t secret);

  std::uint64_t of(std::span<const std::uint8_t> values) const;
  std::uint64_t of(std::span<const std::uint16_t> values) const;
  // Wide values, one multiplication each.
  std::uint64_t of(std::span<const std::uint32_t> values) const;
  // Levels of 4 bits, looked up in the table of 16 places. The number of levels is even.
  std::uint64_t of_levels(ByteSpan packed, const std::array<std::uint16_t, 16>& places) const;

  std::uint64_t point() const { return point_; }

 private:
  template <typename Value, typename Dot>
  std::uint64_t combine(std::span<const Value> values, const Dot& dot) const;
  std::uint64_t next_block(std::uint64_t total, std::uint64_t block, std::uint64_t& scale) const;

  SplitPowers powers_;
  std::uint64_t point_;
  std::uint64_t step_;  // s^kLinearBlock
};

// The check of all buckets of an attempt with one number for each side: the combination of a bucket
// is multiplied by its point, so that errors of different buckets cannot cancel, and the numbers
// are added up. The points of the buckets follow from the attempt's secret.
class BucketCheck {
 public:
  BucketCheck(std::uint64_t attempt_secret, std::uint32_t bucket);

  std::uint64_t of_levels(ByteSpan packed, const std::array<std::uint16_t, 16>& places) const;
  // Sums of 8 or of 16 bits, little-endian; the latter at an even address.
  std::uint64_t of_sums(ByteSpan sums, bool wide) const;

 private:
  LinearCheck check_;
};

// Whether a result agrees with what all contributors sent.
bool sums_agree(std::span<const std::uint64_t> sent, std::uint64_t got);

}  // namespace tributary::in_network
