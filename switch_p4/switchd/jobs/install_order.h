// Translates the coordinator's order to install an epoch. Pure.
#pragma once

#include "core/base/status.h"
#include "core/collective/in_network/slot_rules.h"
#include "schemas/frame_generated.h"

namespace tributary::switchd {

// Returns invalid_argument for another number of places than 16 and for a source that is no UDP
// address. SlotRules::install() checks what the values mean.
Result<in_network::SlotJob> slot_job_of(const wire::InstallEpochT& order);

}  // namespace tributary::switchd
