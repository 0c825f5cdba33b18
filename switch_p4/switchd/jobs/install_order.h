// Translates the coordinator's order to install an epoch. Pure.
#pragma once

#include <cstdint>

#include "core/base/status.h"
#include "core/collective/in_network/slot_rules.h"
#include "schemas/frame_generated.h"

namespace tributary::switchd {

// Returns invalid_argument for another number of places than 16, for a source that is no UDP
// address, and for packets of more than `packet_values_max` values. SlotRules::install() checks
// what the values mean.
Result<in_network::SlotJob> slot_job_of(const wire::InstallEpochT& order,
                                        std::uint32_t packet_values_max);

}  // namespace tributary::switchd
