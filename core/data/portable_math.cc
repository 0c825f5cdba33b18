#include "core/data/portable_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace tributary {
namespace {

constexpr int kMantissaBits = 52;
constexpr int kExponentBias = 1023;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << kMantissaBits) - 1;

// 2^exponent for a normal result, from the bits of the format.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kExponentBias)
                               << kMantissaBits);
}

// Taylor series up to x^17, for |x| a little above pi / 4 at most.
double sine_series(double x) {
  const double square = x * x;
  double sum = 0;
  for (int n = 17; n >= 3; n -= 2) sum = (sum + 1) * (-square / (n * (n - 1)));
  return x * (sum + 1);
}

// Taylor series up to x^18.
double cosine_series(double x) {
  const double square = x * x;
  double sum = 0;
  for (int n = 18; n >= 2; n -= 2) sum = (sum + 1) * (-square / (n * (n - 1)));
  return sum + 1;
}

}  // namespace

double sine_of_turns(double turns) {
  // Reduces the angle to the nearest quarter turn; floor and the subtraction are exact.
  const double quarters = turns * 4;
  const double whole = std::floor(quarters + 0.5);
  const double angle = (quarters - whole) * (std::numbers::pi / 2);
  const auto quadrant = static_cast<unsigned>(static_cast<std::int64_t>(whole)) % 4;
  const double value = quadrant % 2 == 0 ? sine_series(angle) : cosine_series(angle);
  return quadrant < 2 ? value : -value;
}

double cosine_of_turns(double turns) { return sine_of_turns(turns + 0.25); }

double portable_log(double x) {
  int exponent = 0;
  // A subnormal number has no leading one in its mantissa, so it is scaled up first.
  if (x < 0x1p-1000) {
    x *= 0x1p+100;
    exponent = -100;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> kMantissaBits) - kExponentBias;
  double mantissa =
      std::bit_cast<double>((bits & kMantissaMask) | std::uint64_t{kExponentBias} << kMantissaBits);
  if (mantissa > std::numbers::sqrt2) {
    mantissa /= 2;
    ++exponent;
  }
  // The series log m = 2 artanh((m - 1) / (m + 1)) converges fast, as its argument is below 0.172.
  const double ratio = (mantissa - 1) / (mantissa + 1);
  const double square = ratio * ratio;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
  return exponent * std::numbers::ln2 + 2 * ratio * sum;
}

// Reduces x to a rest of at most ln 2 / 2 and scales by a power of two, which is exact.
double portable_exp(double x) {
  if (x < -708) return 0;
  const double twos = std::floor(x / std::numbers::ln2 + 0.5);
  // ln 2 is split into two parts. The first has so few bits that its product with `twos` is exact.
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = std::numbers::ln2 - kLn2High;
  const double rest = (x - twos * kLn2High) - twos * kLn2Low;
  double sum = 0;
  for (int n = 14; n >= 1; --n) sum = (sum + 1) * (rest / n);
  return (sum + 1) * power_of_two(static_cast<int>(twos));
}

}  // namespace tributary
