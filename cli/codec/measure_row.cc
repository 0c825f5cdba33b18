#include "cli/codec/measure_row.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text.h"

namespace tributary {

// Keys are public. Rates are bytes of float32 per second, and bytes_by_stage are for one agent.
nlohmann::ordered_json measure_json(const MeasureReport& report) {
  auto stages = nlohmann::ordered_json::array();
  for (const StageMeasure& stage : report.stages) {
    stages.push_back({{"up", stage.bytes_up}, {"down", stage.bytes_down}});
  }
  return {{"ratio_up", report.ratio_up},
          {"ratio_down", report.ratio_down},
          {"bits_per_value_up", report.bits_per_value_up},
          {"bits_per_value_down", report.bits_per_value_down},
          {"nmse", report.nmse},
          {"nmse_last", report.nmse_last},
          {"encode_bytes_per_s", report.encode_bytes_per_s},
          {"aggregate_bytes_per_s", report.aggregate_bytes_per_s},
          {"decode_bytes_per_s", report.decode_bytes_per_s},
          {"bytes_by_stage", std::move(stages)}};
}

std::vector<std::string> cost_header() { return {"codec", "up", "down", "bits up", "bits down"}; }

std::vector<std::string> cost_cells(const Codec& codec, const MeasureReport& report) {
  return {codec.spec(), ratio_text(report.ratio_up), ratio_text(report.ratio_down),
          fmt::format("{:.2f}", report.bits_per_value_up),
          fmt::format("{:.2f}", report.bits_per_value_down)};
}

std::vector<std::string> speed_header() { return {"encode", "aggregate", "decode"}; }

std::vector<std::string> speed_cells(const MeasureReport& report) {
  return {rate_text(report.encode_bytes_per_s), rate_text(report.aggregate_bytes_per_s),
          rate_text(report.decode_bytes_per_s)};
}

// One word per stage, in the order of the stages.
std::string stages_text(const Codec& codec) {
  std::string text;
  for (const Stage& stage : codec.stages()) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", name(stage.combine));
  }
  return text;
}

}  // namespace tributary
