// Says in the answer of a command which rounds its run file lacks: all commands that read a run use
// the same words and fields.
//
// Look for missing rounds before the file is read: rounds that reach the file in between are then
// read, and no lack is overlooked. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/store/coordinator/missing_rounds.h"

namespace tributary {

// A complete line for people; empty if no round is missing.
std::string missing_line(const MissingRounds& missing, std::string_view run_file);

// Appends `log_missing` and `rounds_beside` to the object.
void add_missing(const MissingRounds& missing, nlohmann::ordered_json& data);

}  // namespace tributary
