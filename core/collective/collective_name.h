// Names of collectives in jobs and command lines: star, sharded_star, ring, tree, halving_doubling,
// all_gather. The functions are pure.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/base/status.h"
#include "core/cost/exchange_cost.h"
#include "schemas/frame_generated.h"

namespace tributary {

// All collectives. The first one uses the coordinator; the others exchange among peers.
inline constexpr std::array<wire::Collective, 6> kCollectives = {
    wire::Collective::star, wire::Collective::sharded_star,     wire::Collective::ring,
    wire::Collective::tree, wire::Collective::halving_doubling, wire::Collective::all_gather};

// Fails with invalid_argument and suggests the closest known name.
Result<wire::Collective> parse_collective(std::string_view name);

// Converts between the wire's collectives and the kinds of the cost model (core/cost). kind_of() is
// empty for a collective that is not in kCollectives.
std::optional<ExchangeKind> kind_of(wire::Collective collective);
wire::Collective collective_of(ExchangeKind kind);

}  // namespace tributary
