#include "core/codec/thc/table/normal.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace tributary::thc {
namespace {

constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kLn2High = 0x1.62e42fefa3800p-1;  // its products with small integers are exact
constexpr double kLn2Low = 0x1.ef35793c76730p-45;
constexpr double kInverseSqrt2Pi = 0x1.9884533d43651p-2;

// exp(-y) for 0 <= y < 700, computed as 2^-k · exp(r) with |r| <= ln(2) / 2, by a Taylor series.
double exp_of_minus(double y) {
  const auto k = static_cast<std::int64_t>(std::floor(y * kInverseLn2 + 0.5));
  const auto halvings = static_cast<double>(k);
  const double r = (halvings * kLn2High - y) + halvings * kLn2Low;
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + sum * r / n;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(1023 - k) << 52);
}

}  // namespace

double normal_density(double x) { return kInverseSqrt2Pi * exp_of_minus(x * x / 2); }

double normal_centre_mass(double x) {
  // x + x³/3 + x⁵/(3·5) + ...: all terms have the same sign, so nothing cancels.
  double term = x;
  double sum = x;
  for (int k = 3; k < 1000; k += 2) {
    term = term * (x * x) / k;
    if (sum + term == sum) break;
    sum += term;
  }
  return sum * normal_density(x);
}

double normal_tail(double x) {
  if (x < 2.5) return 0.5 - normal_centre_mass(x);
  // The continued fraction φ(x) / (x + 1/(x + 2/(x + 3/(x + ...)))), from the inside outwards.
  double fraction = x;
  for (int k = 150; k >= 1; --k) fraction = x + k / fraction;
  return normal_density(x) / fraction;
}

double normal_threshold(double p) {
  // The tail is convex, so Newton's steps from 0 only rise towards the root.
  double t = 0;
  for (int step = 0; step < 200; ++step) {
    const double next = t + (normal_tail(t) - p / 2) / normal_density(t);
    if (!(next > t)) break;
    t = next;
  }
  return t;
}

}  // namespace tributary::thc
