// The aggregator of THC's stage 1. It adds levels by looking up their places on the grid, and adds
// partial sums directly, without decoding either.
//
// The sums are integers on the grid, so their order does not matter and a switch can add them too.
#pragma once

#include <memory>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/thc/options.h"

namespace tributary::thc {

// The contract is that of Aggregator (core/codec/codec.h). `codec` must outlive the aggregator.
// begin() may take some hundred milliseconds if the table for the plan has not been solved yet.
std::unique_ptr<Aggregator> make_sum_aggregator(const Codec& codec, std::uint32_t values,
                                                const Options& options);

}  // namespace tributary::thc
