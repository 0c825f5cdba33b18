// Names of collectives in jobs and command lines: star, sharded_star, ring, tree, halving_doubling,
// all_gather. The functions are pure. An unknown name is refused with invalid_argument and the
// nearest known one.
#pragma once

#include <string_view>

#include "core/base/status.h"
#include "schemas/frame_generated.h"

namespace tributary {

Result<wire::Collective> parse_collective(std::string_view name);

}  // namespace tributary
