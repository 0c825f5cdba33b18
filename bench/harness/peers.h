// Cases with which the speed of every codec is compared in the same run.
#pragma once

#include <memory>

#include "bench/harness/harness.h"
#include "core/base/bytes/bytes.h"

namespace tributary::bench {

using SharedUpdate = std::shared_ptr<const FloatVector>;

// Standard normal values, the same in every run.
SharedUpdate normal_update(std::uint64_t bytes);

Case memcpy_case(const SharedUpdate& update);                  // "memcpy"
Case zstd_encode_case(const SharedUpdate& update, int level);  // "zstd -1 encode"
Case zstd_decode_case(const SharedUpdate& update, int level);  // "zstd -1 decode"

}  // namespace tributary::bench
