// The normal distribution, computed with nothing but + - * / in a fixed order: agents on different
// machines derive tables from it and must come to the same ones, which the last bits of a C
// library's exp and erf would not promise. Relative errors stay below 1e-14.
#pragma once

namespace tributary::thc {

// φ(x)
double normal_density(double x);

// ∫ φ from 0 to x: Φ(x) - 1/2, without the loss of precision near 0. |x| <= 9.
double normal_centre_mass(double x);

// ∫ φ from x to infinity, x >= 0: 1 - Φ(x), without the loss of precision far out.
double normal_tail(double x);

// The t for which a share p of the distribution lies outside [-t, t]; 1e-15 <= p < 1.
double normal_threshold(double p);

}  // namespace tributary::thc
