// Builds the part of a message that describes the payload bytes behind it.
//
// A pure function. The caller guarantees that offset and slice lie within the payload.
#pragma once

#include <cstdint>
#include <memory>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/round_key.h"
#include "schemas/frame.h"

namespace tributary {

// `payload_bytes` is the size of the whole payload. `slice` begins at its byte `offset`. Computes
// the checksum of the slice, so it reads all its bytes.
std::unique_ptr<wire::PartT> describe_part(const RoundKey& key, std::uint32_t bucket,
                                           std::uint32_t stage, std::uint64_t payload_bytes,
                                           std::uint64_t offset, const PayloadSlice& slice);

}  // namespace tributary
