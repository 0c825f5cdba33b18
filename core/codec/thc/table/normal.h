// The normal distribution, computed only with + - * / in a fixed order. Agents on different
// machines derive tables from it and must get the same ones; the last bits of a C library's exp and
// erf are not the same everywhere. Relative errors are below 1e-14. The functions are pure.
#pragma once

namespace tributary::thc {

// The density φ(x).
double normal_density(double x);

// ∫ φ from 0 to x, which is Φ(x) - 1/2 without the loss of precision near 0. Requires |x| <= 9.
double normal_centre_mass(double x);

// ∫ φ from x to infinity, which is 1 - Φ(x) without the loss of precision for large x. Requires x
// >= 0.
double normal_tail(double x);

// The t for which the share p of the distribution lies outside [-t, t]. Requires 1e-15 <= p < 1.
double normal_threshold(double p);

}  // namespace tributary::thc
