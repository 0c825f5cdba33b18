// The jobs in the settings of tributary-switchd, one text each:
//
//   handle=7 epoch=1 agents=4 granularity=30 table=99 slots=64 places=0,3,5,...,30
//
// `sources=192.168.1.5:4650,...` names each agent's address; without it, the first good packet of
// an agent in an epoch does. All other keys are required. Pure.
#pragma once

#include <string_view>

#include "core/base/status.h"
#include "core/collective/in_network/slot_rules.h"

namespace tributary::switchd {

// Returns invalid_argument for an unknown, repeated or missing key, and for a value that is no
// number in range. SlotRules::install() checks what the values mean.
Result<in_network::SlotJob> parse_job(std::string_view text);

}  // namespace tributary::switchd
