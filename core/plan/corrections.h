// Learned corrections of the cost model: the ratio of the measured to the predicted exchange time,
// for each pair of collective and codec.
//
// The map is PlanInputs::corrections. learned_factor.h makes its keys and reads it. A factor above
// 1 means that exchanges take longer than predicted. The functions have no state of their own; the
// caller owns the map and serializes calls. Factors are ratios without a unit.
#pragma once

#include <map>
#include <string>

#include "core/plan/search/search.h"

namespace tributary {

// Share by which a factor moves to the last ratio, on a log scale.
inline constexpr double kCorrectionShare = 0.3;
// Largest ratio, and inverse of the smallest, that one round may contribute. A single round that is
// much longer because a link has just changed must not dominate.
inline constexpr double kSurpriseMax = 2;
// The same two values for a choice that was made a few rounds ago. Its own rounds are most of the
// evidence, so they count for more. Otherwise the planner would leave the choice before it is known
// to be worse, and then choose it again.
inline constexpr double kYoungShare = 0.5;
inline constexpr double kYoungSurpriseMax = 4;
// Bounds of a factor (and 1/10): beyond them the model is wrong elsewhere.
inline constexpr double kCorrectionMax = 10;
// Bound on the number of keys, and so on the size of the stored inputs.
inline constexpr std::size_t kCorrectionsMax = 256;

// Share (on a log scale) by which the factor of a choice that is not in force moves to 1 in each
// round. Old evidence loses value, so that such a choice becomes worth another try.
inline constexpr double kFading = 0.02;
// Moves all factors but the one with the key `in_force` towards 1 by kFading. Call it once per
// round.
void fade(std::map<std::string, double>& corrections, const std::string& in_force);

// Updates the factor of `predicted`'s collective and `codec` with one measured exchange.
// `predicted` must be the prediction with the factors as they were during that exchange. `young`
// selects the limits for a recent choice. A measured time that is not finite or not above 0 is
// ignored, and so is a new key if the map is full.
void learn(std::map<std::string, double>& corrections, const PlanCodec& codec,
           const PlanOption& predicted, double measured_s, bool young = false);

}  // namespace tributary
