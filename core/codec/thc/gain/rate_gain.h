// The gain of THC at any rate, from the norms of an update's blocks alone: no value is encoded.
//
// The functions are pure. Cost of a gain: one pass over the values, one over the blocks for each
// rate, and the tables of widths_for() at the first call for a number of agents.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary::thc {

// The rates at which agents report their gain, in bits per value.
inline constexpr double kGainRates[] = {0.25, 0.5, 1, 2, 3, 4, 6, 8};

// Returns the expected share of the update's energy that arrives at each of the rates, with blocks
// of the usual size that share one rate. It is that of `agents` equal updates; those that differ
// have larger norms of blocks and larger errors. 1 for an update of zeros. Requires finite values
// and ascending rates. Fails like plan_table().
Result<std::vector<double>> gains_of_rates(const Execution& execution,
                                           std::span<const float> values, std::uint32_t agents,
                                           std::span<const double> rates);

// The codec spec of a rate, as plans name it.
std::string spec_of_rate(double rate);

}  // namespace tributary::thc
