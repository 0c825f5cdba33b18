// Joins payloads that were not combined into one byte array, and splits it again. The result of an
// exchange with a gathering codec is stored in a journal in this form, and sent to agents that
// missed it.
//
//   u32  number of payloads
//   u32  0
//   u64  bytes of each
//        the payloads in rank order, each padded with zeros to a multiple of 8
//
// The functions are pure.
#pragma once

#include <span>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary {

// Copies the payloads, which may be empty, into the format above.
Bytes join_payloads(std::span<const ByteSpan> payloads);

// Splits into exactly `expected` payloads, which refer to `joined` and begin at multiples of 8 in
// it. Fails with corrupt_data.
Result<std::vector<ByteSpan>> split_payloads(ByteSpan joined, std::uint32_t expected);

}  // namespace tributary
