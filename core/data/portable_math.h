// Elementary functions that give the same bits on every machine. The C library's differ in the last
// one. These use +, -, *, / and square roots, which IEEE 754 settles, in a fixed order; the build
// forbids contraction into fused multiply-add.
#pragma once

namespace tributary {

// Of whole turns: sine_of_turns(0.25) is 1. Within 1e-12; |turns| < 2^31.
double sine_of_turns(double turns);
double cosine_of_turns(double turns);

// x > 0, within 1e-13 relative or absolute, whichever is larger.
double portable_log(double x);

// 0 below -708; x <= 709. Within 1e-13, relative.
double portable_exp(double x);

}  // namespace tributary
