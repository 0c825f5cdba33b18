// Adds levels by looking up their places on the grid, and sums to sums, without decoding either.
#pragma once

#include <memory>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/thc/options.h"

namespace tributary::thc {

std::unique_ptr<Aggregator> make_sum_aggregator(const Codec& codec, std::uint32_t values,
                                                const Options& options);

}  // namespace tributary::thc
