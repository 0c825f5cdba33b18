// Payloads that nobody combined, as one: what an exchange among peers leaves of a codec that
// gathers, to be kept in a journal and given to whoever missed it.
//
//   u32  number of payloads
//   u32  0
//   u64  bytes of each
//        the payloads, in the order of ranks, each filled up to a multiple of 8
#pragma once

#include <span>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary {

Bytes join_payloads(std::span<const ByteSpan> payloads);

// As many as are expected, each begins at a multiple of 8 of `joined`.
Result<std::vector<ByteSpan>> split_payloads(ByteSpan joined, std::uint32_t expected);

}  // namespace tributary
