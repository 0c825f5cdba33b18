// One round, as its plan and the reports on it tell: what there was to choose from and why it was
// this, and what each agent did. Its columns stand in run_rows.fbs.
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

// not_found: no such round was committed.
Result<RoundDetail> read_round_detail(RunFile& file, std::uint64_t job, std::uint64_t round);

}  // namespace tributary
