// The measured figures of one codec, as JSON and as cells of a table. Pure functions. Headers and
// cells of a table belong together: cost_header() has as many entries as cost_cells().
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/codec/measure.h"

namespace tributary {

// Returns the fields that docs/command_line.md specifies, in its order.
nlohmann::ordered_json measure_json(const MeasureReport& report);

// The cost columns are codec, ratios and bits per value; they begin every table of codecs. The
// speed columns follow them.
std::vector<std::string> cost_header();
std::vector<std::string> cost_cells(const Codec& codec, const MeasureReport& report);
std::vector<std::string> speed_header();
std::vector<std::string> speed_cells(const MeasureReport& report);

// Returns the operations of the stages, for example "max sum".
std::string stages_text(const Codec& codec);

}  // namespace tributary
