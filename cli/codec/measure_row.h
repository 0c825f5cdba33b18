// One codec's measured figures, as JSON and as a row of a table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/codec/measure.h"

namespace tributary {

// The fields that docs/command_line.md promises, in its order.
nlohmann::ordered_json measure_json(const MeasureReport& report);

// Codec, ratios, bits per value: what every table of codecs begins with; and the speeds behind.
std::vector<std::string> cost_header();
std::vector<std::string> cost_cells(const Codec& codec, const MeasureReport& report);
std::vector<std::string> speed_header();
std::vector<std::string> speed_cells(const MeasureReport& report);

// "max sum": the operations of the stages.
std::string stages_text(const Codec& codec);

}  // namespace tributary
