// The bits that a round gave to each layer, as facts of the round. The function is pure.
#pragma once

#include "core/codec/codec.h"
#include "core/round/common/plan/mechanisms.h"
#include "core/round/common/plan/round_plan.h"
#include "core/update/layer_map.h"

namespace tributary {

// Returns the mean bits of a value on the uplink, in thousandths, by the names of the layers and in
// their order. Empty if no codec has divided bits among blocks. More than kTalliesMax layers are
// joined in groups of neighbours; a group's name has those of its first and last layer.
// `layers` is the map of the plan's job.
Tallies millibits_by_layer(const RoundPlan& plan, const LayerMap& layers,
                           const EncodingFacts& facts);

}  // namespace tributary
