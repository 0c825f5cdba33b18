// The model learns from what it said: measured over predicted time, by collective and codec, as
// factors for the predictions to come (PlanInputs::corrections).
#pragma once

#include <map>
#include <string>

#include "core/plan/search/search.h"

namespace tributary {

inline constexpr double kCorrectionShare = 0.3;  // of the way to what was measured last
// One round that was much longer, because the link has just changed, is not to teach much.
inline constexpr double kSurpriseMax = 2;
// Of a choice that has just been taken less was known: what it takes counts for more, or it is left
// before it is known to be worse, and taken again.
inline constexpr double kYoungShare = 0.5;
inline constexpr double kYoungSurpriseMax = 4;
inline constexpr double kCorrectionMax = 10;  // and its inverse: beyond it something else is wrong
inline constexpr std::size_t kCorrectionsMax = 256;

// What was learnt of choices that are not in force fades by so much in a round: their day was
// another one, and by and by they are worth another try.
inline constexpr double kFading = 0.02;
void fade(std::map<std::string, double>& corrections, const std::string& in_force);

// `predicted` is with the factors as they were. What cannot be (a time that is no number, or none
// at all) teaches nothing. With too many keys no new one is learnt.
void learn(std::map<std::string, double>& corrections, const PlanCodec& codec,
           const PlanOption& predicted, double measured_s, bool young = false);

}  // namespace tributary
