#include "cli/report/run_json.h"

#include <nlohmann/json.hpp>

namespace tributary::report {
namespace {

using Json = nlohmann::ordered_json;

// Null for a figure that the journal does not contain.
template <typename T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

Json json_of(const RunFigures& figures) {
  Json switches = Json::array();
  for (const Switch& each : figures.switches) {
    switches.push_back({{"round", each.round},
                        {"at_s", each.at_s},
                        {"from", each.from},
                        {"to", each.to},
                        {"trigger", each.trigger},
                        {"reason", each.sentence}});
  }
  // The sum is null if one direction is unknown, because half of a sum would mislead.
  Json dense;
  if (figures.bytes_dense_up && figures.bytes_dense_down) {
    dense = *figures.bytes_dense_up + *figures.bytes_dense_down;
  }
  return {{"job", figures.job},
          {"name", figures.job_name},
          {"state", figures.state},
          {"rounds", figures.rounds},
          // An older name than that of the figure; keys do not change.
          {"rounds_wanted", figures.rounds_configured},
          {"wall_s", figures.wall_s},
          {"agents", figures.agents},
          {"accuracy_final", optional(figures.accuracy_final)},
          {"accuracy_best", optional(figures.accuracy_best)},
          {"loss_final", optional(figures.loss_final)},
          {"train_loss_final", optional(figures.train_loss_final)},
          {"bytes_up", figures.bytes_up},
          {"bytes_down", figures.bytes_down},
          {"bytes_dense", dense},
          {"bytes_dense_up", optional(figures.bytes_dense_up)},
          {"bytes_dense_down", optional(figures.bytes_dense_down)},
          {"wire_bytes_up", optional(figures.wire_bytes_up)},
          {"wire_bytes_down", optional(figures.wire_bytes_down)},
          {"codecs", figures.codecs},
          {"collectives", figures.collectives},
          {"choices", figures.choices},
          {"switches", std::move(switches)},
          {"log_missing", figures.missing.log_missing},
          {"rounds_beside", figures.missing.beside},
          {"replicas_identical", figures.replicas_identical},
          {"aborts", figures.aborts},
          {"contributions_asked", figures.contributions_asked},
          {"contributions_missed", figures.contributions_missed},
          {"conservation_error_max", optional(figures.conservation_error_max)}};
}

}  // namespace tributary::report
