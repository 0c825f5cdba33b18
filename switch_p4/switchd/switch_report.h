// The figures of an aggregator in their two forms: JSON for `tributary switch show` and --json,
// and metrics. Pure but for the metrics.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/service/metrics/metrics.h"
#include "switch_p4/switchd/data_plane.h"

namespace tributary::switchd {

struct SwitchReport {
  std::string address;
  std::string coordinator;  // endpoint; empty: the jobs come from the settings
  bool connected = false;
  SwitchFigures figures;
};

nlohmann::ordered_json json_of(const SwitchReport& report);
void export_figures(const SwitchReport& report, Metrics& metrics);

}  // namespace tributary::switchd
