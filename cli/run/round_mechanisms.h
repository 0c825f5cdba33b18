// The facts of one round as JSON and as text (schemas/mechanisms.fbs).
//
// Pure functions over a detail that was read before. Facts of a newer build that this one does not
// know are not shown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/run/round_detail.h"

namespace tributary {

// {"round", "attempt", "coordinator": {…}, "agents": {id: {…}}}. A list is an object with one key
// per item. Agents without a report are left out.
nlohmann::ordered_json mechanisms_json(const RoundDetail& detail);

// One line each, without the facts that are zero: "quorum 2, asked 3, …". Facts of agents are
// ranges over the agents that have reported. Empty if nothing is stored.
std::string coordinator_mechanisms_text(const RoundDetail& detail);
std::string agents_mechanisms_text(const RoundDetail& detail);

}  // namespace tributary
