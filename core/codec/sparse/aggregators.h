// Aggregators for the last stage of sparse codecs. Their contract is that of Aggregator
// (core/codec/codec.h). The codec must outlive them. Not thread-safe: one call at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/codec/codec.h"
#include "core/codec/payload.h"

namespace tributary::sparse {

// Makes an aggregator for sparse payloads. It adds each value at its index. The combined payload
// contains the union of all indices, or the whole bucket if that is smaller. It loses nothing, so
// it needs no residual. Its memory is proportional to the bucket, whatever the number of agents. A
// payload whose values would make a sum exceed float32 is refused (not_finite); the sums stay as
// they were.
std::unique_ptr<Aggregator> make_sparse_sum_aggregator(const Codec& codec, std::uint32_t values);

// Makes an aggregator that adds bodies of `count` float32 element by element, for indices on which
// all agents have agreed.
std::unique_ptr<Aggregator> make_value_sum_aggregator(const Codec& codec, std::size_t stage,
                                                      std::uint32_t values, std::size_t count);

// Returns the float32 of such a body, which point into the payload. A wrong size gives
// corrupt_data; NaN and Inf give not_finite.
Result<std::span<const float>> read_value_sums(const Execution& execution,
                                               const OpenPayload& payload, std::size_t count);

}  // namespace tributary::sparse
