// tributary plan table: prints the quantization levels of THC and their expected error.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "core/codec/payload.h"
#include "core/codec/thc/table/table.h"
#include "core/codec/thc/table/table_plan.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;
using thc::TablePlan;
using thc::TableRequest;

// The bounds are those of the codec's own parameter.
Accept accept_share(double& target) {
  return [&target](const std::string& value) -> Status {
    double share = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), share);
    const bool whole = error == std::errc() && end == value.data() + value.size();
    if (whole && share >= thc::kShareMin && share <= thc::kShareMax) {
      target = share;
      return {};
    }
    return Status(
        StatusCode::invalid_argument,
        {.what = "a share",
         .expected = fmt::format("a number from {} to {}", thc::kShareMin, thc::kShareMax),
         .got = fmt::format("'{}'", value),
         .remedy = "omit the option to choose it automatically"});
  };
}

// The levels in steps of the table's grid, and the parts of the error.
std::string plan_text(const TableRequest& request, const TablePlan& plan) {
  return fmt::format(
      "{} bits for {} {}: granularity {}, p {} (rotated values are clamped at {:.5f} standard "
      "deviations)\n\n"
      "  levels         {}\n"
      "  bits of a sum  {}\n"
      "  rounding       {:.6g}\n"
      "  truncation     {:.6g}\n"
      "  expected NMSE  {:.6g}\n\n"
      "Errors are mean squares for a rotated value of unit variance. The expected NMSE is that of\n"
      "the mean of agents with equal updates that round independently.\n",
      request.bits, request.agents, request.agents == 1 ? "agent" : "agents", plan.granularity,
      plan.p, plan.threshold, fmt::join(plan.levels, " "), plan.sum_bits, plan.rounding_mse,
      plan.truncation_mse, plan.expected_nmse);
}

Result<Answer> plan(const TableRequest& request) {
  TRIBUTARY_ASSIGN(const TablePlan plan, thc::plan_table(request));
  Answer answer;
  answer.text = plan_text(request, plan);
  answer.data = json_text(Json{{"bits", request.bits},
                               {"agents", request.agents},
                               {"table", plan.levels},
                               {"granularity", plan.granularity},
                               {"p", plan.p},
                               {"threshold", plan.threshold},
                               {"sum_bits", plan.sum_bits},
                               {"rounding_mse", plan.rounding_mse},
                               {"truncation_mse", plan.truncation_mse},
                               {"expected_nmse", plan.expected_nmse}});
  return answer;
}

}  // namespace

Command plan_table_command() {
  const auto request = std::make_shared<TableRequest>();
  return {
      .noun = "plan",
      .verb = "table",
      .summary = "print the levels of THC and their error",
      .details =
          "Without --granularity and --p, the values with the smallest expected error are chosen\n"
          "for the bits, the agents and the width of a sum on the downlink.\n\n"
          "examples:\n"
          "  tributary plan table --bits 4 --agents 4 --down-bits 8\n"
          "  tributary plan table --bits 4 --granularity 30 --p 0.03125 --agents 4 --json",
      .options = {{.name = "--bits",
                   .value_name = "N",
                   .help = "bits of a value on the uplink, 1 to 8",
                   .accept = accept_count(request->bits, 1u, thc::kBitsMax),
                   .required = true},
                  {.name = "--granularity",
                   .value_name = "N",
                   .help = "steps of the grid of levels (chosen)",
                   .accept = accept_count(request->granularity, 1u, thc::kGranularityMax)},
                  {.name = "--p",
                   .value_name = "P",
                   .help = "share of the rotated values that is clamped (chosen)",
                   .accept = accept_share(request->p)},
                  {.name = "--agents",
                   .value_name = "N",
                   .help = "number of agents whose levels are added (1)",
                   .accept = accept_count(request->agents, 1u, kContributorsMax)},
                  {.name = "--down-bits",
                   .value_name = "N",
                   .help = "bits of a sum on the downlink (enough for a fine grid)",
                   .accept = accept_count(request->down_bits, 1u, 32u)},
                  {.name = "--uniform",
                   .value_name = {},
                   .help = "use evenly spaced levels",
                   .accept = accept_flag(request->uniform)}},
      .run = [request](World&) { return plan(*request); }};
}

}  // namespace tributary
