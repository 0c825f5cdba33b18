// Lists that are stored as one value, because a row for each item would cost several times its
// size: the outcomes of a round's buckets, and the members of an epoch.
#pragma once

#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/round/common/machine/records.h"

namespace tributary {

// Each: u32 bucket, u32 contributor set, u64 result hash.
Bytes pack(const std::vector<OutcomeRecord>& outcomes);
Result<std::vector<OutcomeRecord>> unpack_outcomes(ByteSpan bytes, const std::string& path);

// Each: u16 length of the id, the id, f64 weight.
Result<Bytes> pack(const std::vector<MemberRecord>& members);
Result<std::vector<MemberRecord>> unpack_members(ByteSpan bytes, const std::string& path);

}  // namespace tributary
