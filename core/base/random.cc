#include "core/base/random.h"

#include <cmath>
#include <numbers>

namespace tributary {
namespace {

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xd2511f53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xcd9e8d57} * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return counter;
}

StreamKey stream_key(const DrawAddress& address) {
  // The address has 224 bits and one Philox call takes 192, so two calls are chained.
  const auto place =
      philox4x32({low(address.round), high(address.round), address.bucket, address.agent},
                 {low(address.job_seed), high(address.job_seed)});
  const auto key = philox4x32(place, {static_cast<std::uint32_t>(address.purpose), 0});
  return {key[0], key[1]};
}

std::array<double, 2> NormalStream::pair(std::uint32_t pair) const {
  // In (0, 1], so that the logarithm is finite.
  const double u = (double{1} + random_bits(key_, 2 * pair)) * 0x1p-32;
  const double turn = random_bits(key_, 2 * pair + 1) * 0x1p-32;
  const double radius = std::sqrt(-2.0 * std::log(u));
  const double angle = 2.0 * std::numbers::pi * turn;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace tributary
