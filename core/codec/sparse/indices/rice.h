// The gaps layout of indices.h. The functions share its contract.
//
// Indices are ascending and below `values`. Reading trusts nothing: any bytes lead to valid indices
// or to corrupt_data. Pure functions; execution.pool may be used inside.
#pragma once

#include <cstdint>
#include <span>

#include "core/codec/sparse/indices/indices.h"

namespace tributary::sparse {

// Finds the best parameter and its size. Requires one or more indices.
IndexPlan gaps_plan(const Execution& execution, std::span<const std::uint32_t> indices);

// Writes the table and the codes to `out`, whose size a plan with `rice_bits` gave.
void write_gaps(const Execution& execution, unsigned rice_bits,
                std::span<const std::uint32_t> indices, MutableByteSpan out);

// Reads indices.size() indices and requires that they use all of `in`; otherwise corrupt_data.
Status read_gaps(const Execution& execution, ByteSpan in, std::size_t values,
                 std::span<std::uint32_t> indices);

}  // namespace tributary::sparse
