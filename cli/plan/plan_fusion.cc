// tributary plan fusion: plans which tensors are compressed and sent together.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/fusion/profile_text.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/base/files/file.h"
#include "core/plan/fusion/fusion.h"
#include "core/plan/fusion/fusion_baselines.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// The plan and, for comparison, the rules of other systems on the same profile.
struct Outcome {
  std::size_t tensors = 0;
  double bytes = 0;
  double backward_s = 0;
  FusionPlan plan;
  std::array<FusionBaseline, 4> rules;
};

// The groups are numbers of consecutive tensors.
Json plan_json(const Outcome& outcome) {
  Json baselines;
  for (const FusionBaseline& rule : outcome.rules) baselines[rule.name] = rule.iteration_s;
  return {{"tensors", outcome.tensors},
          {"bytes", outcome.bytes},
          {"backward_s", outcome.backward_s},
          {"groups", outcome.plan.groups},
          {"iteration_s", outcome.plan.iteration_s},
          {"optimal", outcome.plan.optimal},
          {"baselines", baselines}};
}

// Wraps long lists at the width of a terminal.
std::string groups_text(const std::vector<std::uint32_t>& groups) {
  constexpr std::size_t kWidth = 96;
  std::string text;
  std::string line = "tensors of each group:";
  for (const std::uint32_t count : groups) {
    const std::string word = fmt::format(" {}", count);
    if (line.size() + word.size() > kWidth) {
      text += line + "\n";
      line.clear();
    }
    line += word;
  }
  return text + line + "\n";
}

// The last column is how many times as long the rule takes.
std::string plan_text(const Outcome& outcome) {
  Table table({"groups by", "number", "iteration", "against the plan"});
  const auto add = [&](std::string_view name, std::size_t groups, double seconds) {
    const double planned_s = outcome.plan.iteration_s;
    table.add({std::string(name), count_text(groups), seconds_text(seconds),
               planned_s > 0 ? fmt::format("{:.3f} x", seconds / planned_s) : "-"});
  };
  add("the plan", outcome.plan.groups.size(), outcome.plan.iteration_s);
  for (const FusionBaseline& rule : outcome.rules) {
    add(rule.name, rule.groups.size(), rule.iteration_s);
  }
  return fmt::format(
      "{} tensors, {:.1f} MB, backward pass {}\n\n{}\n{}{}", count_text(outcome.tensors),
      outcome.bytes / 1e6, seconds_text(outcome.backward_s), table.text(),
      groups_text(outcome.plan.groups),
      outcome.plan.optimal ? "" : "not proven optimal: the search reached its limit\n");
}

// The whole profile is read and checked before the search, which may take long.
Result<Answer> plan(const std::string& file) {
  TRIBUTARY_ASSIGN(const Bytes text, read_file(file, kFusionTextBytesMax));
  auto profile = parse_fusion_profile(text);
  if (!profile.ok()) return std::move(profile).status().at(fmt::format("file '{}'", file));
  TRIBUTARY_ASSIGN(FusionPlan best, plan_fusion(*profile));
  const Outcome outcome = {
      .tensors = profile->bytes.size(),
      .bytes = std::accumulate(profile->bytes.begin(), profile->bytes.end(), 0.0),
      .backward_s = std::accumulate(profile->backward_s.begin(), profile->backward_s.end(), 0.0),
      .plan = std::move(best),
      .rules = fusion_baselines(FusionTimes(*profile))};
  // Text and JSON are made from the same figures, so they cannot disagree.
  return Answer{.text = plan_text(outcome), .data = json_text(plan_json(outcome))};
}

}  // namespace

Command plan_fusion_command() {
  const auto file = std::make_shared<std::string>();
  return {.noun = "plan",
          .verb = "fusion",
          .summary = "plan which tensors to compress and send together",
          .details =
              "The file contains backward_s[] and bytes[] of the tensors, in the order in which "
              "gradients\n"
              "become ready, and the costs compress, network and optionally decode: {alpha_s,\n"
              "beta_s_per_byte} per group and per byte. In network, ratio is the share of the\n"
              "bytes that is sent. In decode, agents is the number of payloads to decode.\n\n"
              "examples:\n"
              "  tributary plan fusion --in profile.json\n"
              "  tributary plan fusion --in profile.json --json",
          .options = {{.name = "--in",
                       .value_name = "PROFILE.json",
                       .help = "measured profile, as described below",
                       .accept = accept_file(*file),
                       .required = true}},
          .run = [file](World&) { return plan(*file); }};
}

}  // namespace tributary
