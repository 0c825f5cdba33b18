// The gaps layout of indices.h.
#pragma once

#include <cstdint>
#include <span>

#include "core/codec/sparse/indices/indices.h"

namespace tributary::sparse {

// For one index or more.
IndexPlan gaps_plan(const Execution& execution, std::span<const std::uint32_t> indices);

void write_gaps(const Execution& execution, unsigned rice_bits,
                std::span<const std::uint32_t> indices, MutableByteSpan out);

// `indices` has the size to read.
Status read_gaps(const Execution& execution, ByteSpan in, std::size_t values,
                 std::span<std::uint32_t> indices);

}  // namespace tributary::sparse
