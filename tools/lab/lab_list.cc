// The command `tributary lab list`.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/json.h"
#include "cli/text.h"
#include "core/lab/lab_names.h"
#include "tools/lab/lab_commands.h"
#include "tools/lab/lab_counts.h"
#include "tools/lab/lab_kernel.h"
#include "tools/lab/lab_state.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// The state of a lab from its namespaces, its description and its relay.
std::string condition(const FoundLab& found, const std::optional<LabState>& state) {
  if (!state || !found.complete() || state->links.size() != found.nodes.size()) return "incomplete";
  return relay_is_alive(*state) ? "up" : "its relay has ended";
}

Json direction_json(const DirectionCounts& counts) {
  return {{"packets", counts.link.packets},
          {"wire_bytes", counts.link.wire_bytes},
          {"lost", counts.link.lost},
          {"overflowed", counts.link.overflowed},
          {"reordered", counts.link.reordered},
          {"late_ms_mean", counts.late_ms_mean()},
          {"late_ms_p99", counts.late_ms_percentile(0.99)},
          {"late_ms_max", static_cast<double>(counts.late_ns_max) / 1e6}};
}

std::string direction_text(const DirectionCounts& counts) {
  return fmt::format("{} packets, {} lost, {} overflowed, late {:.3f} ms (p99 {:.3f}, max {:.3f})",
                     count_text(counts.link.packets), count_text(counts.link.lost),
                     count_text(counts.link.overflowed), counts.late_ms_mean(),
                     counts.late_ms_percentile(0.99),
                     static_cast<double>(counts.late_ns_max) / 1e6);
}

// False if the link is idle or implemented by the kernel.
bool was_used(const DirectionCounts& counts) {
  return counts.link.packets + counts.link.lost + counts.link.overflowed > 0;
}

// Adds a lab to the text and to the JSON answer. Counts are shown only for links in user space that
// were used.
void add_lab(const std::string& name, const FoundLab& found, std::string& text, Json& labs) {
  const std::optional<LabState> state = read_lab_state(name);
  const std::string how = condition(found, state);
  text +=
      fmt::format("{}: {} nodes, {}{}\n", name, found.nodes.size(), how,
                  state ? fmt::format(", congestion control {}", state->congestion_control) : "");
  const std::vector<NodeCounts> counts =
      state && state->relay != 0 ? read_counts(lab_counts_path(name)) : std::vector<NodeCounts>();
  Json nodes = Json::array();
  for (const std::uint32_t node : found.nodes) {
    const std::string link = state && node < state->links.size() ? state->links[node] : "unknown";
    Json json = {{"node", node}, {"address", node_address(node)}, {"link", link}};
    text += fmt::format("  node {}  {}  {}\n", node, node_address(node), link);
    if (node < counts.size() && (was_used(counts[node].up) || was_used(counts[node].down))) {
      text += fmt::format("    up    {}\n    down  {}\n", direction_text(counts[node].up),
                          direction_text(counts[node].down));
      json["up"] = direction_json(counts[node].up);
      json["down"] = direction_json(counts[node].down);
    }
    nodes.push_back(std::move(json));
  }
  labs.push_back({{"name", name},
                  {"condition", how},
                  {"congestion_control", state ? state->congestion_control : ""},
                  {"mtu_bytes", state ? state->mtu_bytes : 0},
                  {"nodes", nodes}});
}

Result<Answer> list() {
  std::string text;
  Json labs = Json::array();
  for (const auto& [name, found] : find_labs()) add_lab(name, found, text, labs);
  if (text.empty()) text = "no lab is up\n";
  return Answer{.text = text, .data = json_text(Json{{"labs", labs}})};
}

}  // namespace

Command lab_list_command() {
  return {.noun = "lab",
          .verb = "list",
          .summary = "list the labs of this machine with the packets of their links",
          .details =
              "Links in user space have the numbers of packets that were carried, lost at random\n"
              "or dropped by a full queue, and the delay of packets beyond the time at which they\n"
              "were due.\n\n"
              "examples:\n"
              "  tributary lab list\n"
              "  tributary lab list --json",
          .options = {},
          .run = [](World&) { return list(); }};
}

}  // namespace tributary
