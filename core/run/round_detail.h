// One round in detail, from its plan and the agents' reports: the alternatives, the reason of the
// choice, and the part of each agent. Plain values.
//
// Reads the file on the caller's thread. The result owns its data and may be passed to another
// thread. Texts come from agents and are not checked.
#pragma once

#include <cstdint>

#include "core/base/status.h"
#include "core/run/run_rows_generated.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

using PlanAlternative = rows::PlanAlternativeT;
using PlanExchange = rows::PlanExchangeT;
using PlanObservation = rows::PlanObservationT;
using AgentPart = rows::AgentPart;
using AgentInRound = rows::AgentInRoundT;
using RoundDetail = rows::RoundDetailT;

// Returns not_found if the round was not committed, and otherwise the errors of RunFile. The size
// of the result is bounded, whatever the file contains.
Result<RoundDetail> read_round_detail(RunFile& file, std::uint64_t job, std::uint64_t round);

}  // namespace tributary
