// Packs lists into one value: the outcomes of a round's buckets, and the members of an epoch. A row
// per item would take several times the size. The functions are pure; `path` is used in errors
// (corrupt_data or truncated input).
#pragma once

#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/round/common/machine/records.h"

namespace tributary {

// Format per outcome: u32 bucket, u32 contributor set, u64 result hash.
Bytes pack(const std::vector<OutcomeRecord>& outcomes);
// The inverse of pack().
Result<std::vector<OutcomeRecord>> unpack_outcomes(ByteSpan bytes, const std::string& path);

// Format per member: u16 length of the id, the id, f64 weight. Fails with invalid_argument if an id
// is longer than 65535 bytes.
Result<Bytes> pack(const std::vector<MemberRecord>& members);
// The inverse of pack().
Result<std::vector<MemberRecord>> unpack_members(ByteSpan bytes, const std::string& path);

}  // namespace tributary
