// Collectives as jobs and command lines name them: star, sharded_star, ring, tree,
// halving_doubling, all_gather.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/base/status.h"
#include "core/cost/exchange_cost.h"
#include "schemas/frame_generated.h"

namespace tributary {

// The first goes by the coordinator, the others among peers.
inline constexpr std::array<wire::Collective, 6> kCollectives = {
    wire::Collective::star, wire::Collective::sharded_star,     wire::Collective::ring,
    wire::Collective::tree, wire::Collective::halving_doubling, wire::Collective::all_gather};

Result<wire::Collective> parse_collective(std::string_view name);

// As costs are reckoned for it, and back. Nothing: none of those above.
std::optional<ExchangeKind> kind_of(wire::Collective collective);
wire::Collective collective_of(ExchangeKind kind);

}  // namespace tributary
