// tributary data shards: shows how a data set would be divided among agents.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/data/data_options.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/data/shards.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// Limits of the table; the JSON output is complete.
constexpr std::uint32_t kAgentsShown = 50;
constexpr std::uint32_t kClassesShown = 20;

// The division itself is that of the agents (core/data/shards.h), so the command shows what they
// will train on.
struct ShardsCommand {
  DataRequest request;
  ShardOptions shards{.agents = 4};
};

// Empty for data without labels.
std::vector<std::uint64_t> class_counts(const DataSet& data,
                                        const std::vector<std::uint32_t>& shard) {
  if (data.labels().empty()) return {};
  std::vector<std::uint64_t> counts(data.shape().classes);
  for (const std::uint32_t index : shard) ++counts[data.labels()[index]];
  return counts;
}

Result<Answer> share_out(const ShardsCommand& command) {
  TRIBUTARY_ASSIGN(const OpenedData opened, open_data(command.request));
  const DataSet& data = *opened.data;
  const std::uint32_t classes = data.labels().empty() ? 0 : data.shape().classes;
  TRIBUTARY_ASSIGN(const auto shards,
                   make_shards(command.shards, data.count(), data.labels(), classes));
  const std::uint32_t shown = std::min(classes, kClassesShown);
  std::vector<std::string> header = {"agent", "examples"};
  for (std::uint32_t c = 0; c < shown; ++c) header.push_back(fmt::format("class {}", c));
  Table table(std::move(header));
  Json json = Json::array();
  for (std::uint32_t agent = 0; agent < shards.size(); ++agent) {
    const std::vector<std::uint64_t> counts = class_counts(data, shards[agent]);
    Json entry = {{"agent", agent}, {"count", shards[agent].size()}};
    if (classes > 0) entry["histogram"] = counts;
    json.push_back(std::move(entry));
    if (agent >= kAgentsShown) continue;
    std::vector<std::string> row = {fmt::format("{}", agent), count_text(shards[agent].size())};
    for (std::uint32_t c = 0; c < shown; ++c) row.push_back(count_text(counts[c]));
    table.add(std::move(row));
  }
  Answer answer;
  answer.text = table.text();
  if (shards.size() > kAgentsShown || classes > shown) {
    answer.text += "The table is shortened; --json prints everything.\n";
  }
  answer.data = json_text(Json{{"count", data.count()},
                               {"agents", command.shards.agents},
                               {"seed", command.shards.seed},
                               {"dirichlet_alpha", command.shards.dirichlet_alpha},
                               {"shards", std::move(json)}});
  return answer;
}

}  // namespace

Command data_shards_command() {
  const auto command = std::make_shared<ShardsCommand>();
  Command shards = {
      .noun = "data",
      .verb = "shards",
      .summary = "show how a data set is divided among agents",
      .details =
          "Without --alpha the examples are shuffled and divided evenly. With it, every class is\n"
          "divided unevenly (Dirichlet); a smaller alpha gives a stronger skew.\n\n"
          "examples:\n"
          "  tributary data shards digits --agents 4\n"
          "  tributary data shards digits --agents 10 --alpha 0.3 --seed 7 --json",
      .options = data_options(command->request),
      .run = [command](World&) { return share_out(*command); }};
  shards.options.push_back({.name = "--agents",
                            .value_name = "N",
                            .help = "number of agents (4)",
                            .accept = accept_count(command->shards.agents, 1u, kAgentsMax)});
  shards.options.push_back({.name = "--alpha",
                            .value_name = "A",
                            .help = "Dirichlet skew by class, 0.001 to 1000000; 0: none (0)",
                            .accept = accept_real(command->shards.dirichlet_alpha, 0, 1e6)});
  shards.options.push_back({.name = "--seed",
                            .value_name = "N",
                            .help = "seed of the division (0)",
                            .accept = accept_count<std::uint64_t>(command->shards.seed, 0)});
  return shards;
}

}  // namespace tributary
