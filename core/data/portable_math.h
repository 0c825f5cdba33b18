// Elementary functions that give the same bits on every machine, which C libraries do not
// guarantee. They use only +, -, *, / and square roots, which IEEE 754 defines exactly, in a fixed
// order. The build forbids contraction into fused multiply-add.
//
// All functions are pure. Arguments outside the stated range give undefined results.
#pragma once

namespace tributary {

// Sine of an angle in turns: sine_of_turns(0.25) is 1. Error below 1e-12; |turns| < 2^31.
double sine_of_turns(double turns);
double cosine_of_turns(double turns);

// Natural logarithm of x > 0. Error below 1e-13, relative or absolute, whichever is larger.
double portable_log(double x);

// e^x for x <= 709; 0 for x < -708. Relative error below 1e-13.
double portable_exp(double x);

}  // namespace tributary
