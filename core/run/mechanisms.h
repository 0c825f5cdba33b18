// The facts of a round as a list of named numbers, from the form in which the journal stores them
// (schemas/mechanisms.fbs). It has all fields of the tables, so a new field appears without a
// change here. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run/run_rows_generated.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

using Mechanism = rows::MechanismT;

// An agent's part and the coordinator's. A list in the table gives one entry per item; other fields
// give one. Bytes that are missing or damaged give an empty list.
std::vector<Mechanism> mechanisms_of_agent(const SharedBytes& packed);
std::vector<Mechanism> mechanisms_of_round(const SharedBytes& packed);

// The mean bits of a value on the uplink in one layer, or in neighbouring layers that share an
// entry.
struct LayerBits {
  std::string layer;
  double bits = 0;
};
// In the order of the layers, from the agent that reports them. Empty if no codec of the round has
// divided bits among blocks.
std::vector<LayerBits> bits_by_layer(const std::vector<rows::AgentInRoundT>& agents);

// The lowest and the highest value of one fact among the agents of a round that report it.
struct MechanismRange {
  std::string name;
  std::string of;
  double low = 0;
  double high = 0;
};
// In the order in which the first agent reports them, without bits_by_layer().
std::vector<MechanismRange> ranges_of_agents(const std::vector<rows::AgentInRoundT>& agents);

}  // namespace tributary
