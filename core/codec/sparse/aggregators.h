// The aggregators of this family's last stages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/codec/codec.h"
#include "core/codec/payload.h"

namespace tributary::sparse {

// For sparse payloads: adds values where they belong and sends the union of all places down, or the
// whole bucket where that is smaller. Nothing is lost on the way down, so it needs no residual. Its
// memory is that of one bucket, whatever the number of agents.
std::unique_ptr<Aggregator> make_sparse_sum_aggregator(const Codec& codec, std::uint32_t values);

// Element-wise sum of bodies of `count` float32, for places that all agents have agreed on.
std::unique_ptr<Aggregator> make_value_sum_aggregator(const Codec& codec, std::size_t stage,
                                                      std::uint32_t values, std::size_t count);

// The float32 of such a body, checked.
Result<std::span<const float>> read_value_sums(const Execution& execution,
                                               const OpenPayload& payload, std::size_t count);

}  // namespace tributary::sparse
