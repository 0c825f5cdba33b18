// The cost of a bit on the downlink in bits on the uplink, for a codec that divides bits between
// its blocks (thc:rate=R), and its place in the codec's spec.
//
// A plan names its candidates without a weight. It sets the weight that follows from the links, and
// predicts the candidates' sizes and gains for a weight of 1. All functions are pure and
// thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "core/plan/inputs/inputs.h"

namespace tributary {

// Whether a plan sets the weight of this candidate: its codec has a rate and no weight of its own.
bool takes_down_weight(std::string_view spec);

// Returns the weight for a choice: the slowest downlink's time for a byte, divided by that of the
// slowest uplink, as the nearest power of two from 1/8 to 8. The weight of the choice in force
// (PlanInputs::before) stays while it is within a factor of 1.7, so that noisy measurements do not
// change the codec. 1 if the choice takes no weight or is no star: among peers each byte crosses an
// uplink and a downlink.
double down_weight_of(const PlanInputs& inputs, const PlanChoice& choice);

// Returns the spec with the weight; unchanged for a weight of 1.
std::string with_down_weight(std::string spec, double weight);
// The inverse of with_down_weight(): the candidate's own spec.
std::string without_down_weight(std::string spec);

}  // namespace tributary
