// The command `tributary lab up`.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/accept.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/lab/lab_names.h"
#include "core/lab/lab_plan.h"
#include "tools/lab/lab_commands.h"
#include "tools/lab/lab_kernel.h"
#include "tools/lab/lab_relay.h"
#include "tools/lab/lab_state.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// The options. Settings of single nodes override those of all links.
struct LabUp {
  std::string name = "lab";
  std::uint32_t nodes = 4;
  std::uint32_t mtu_bytes = 1500;
  LinkSettings everywhere;
  std::vector<NodeSettings> own;
  std::string congestion_control;
  std::uint64_t seed = 1;
  std::optional<std::string> uplink;  // of a gateway
};

// Removes everything that exists of a lab with this name.
Status take_down(const std::string& name) {
  const auto labs = find_labs();
  const auto found = labs.find(name);
  Status removed = found == labs.end() ? Status() : remove_namespaces(name, found->second);
  remove_lab_state(name);
  return removed;
}

// Removes the remains of a crashed lab; a lab that works is an error.
Status remove_remains(const std::string& name) {
  const auto labs = find_labs();
  const auto found = labs.find(name);
  const std::optional<LabState> state = read_lab_state(name);
  const bool works = found != labs.end() && found->second.complete() && state &&
                     state->links.size() == found->second.nodes.size() && relay_is_alive(*state);
  if (!works) return take_down(name);
  return Status(
      StatusCode::already_exists,
      {.what = fmt::format("a lab named '{}'", name),
       .expected = "a new name",
       .got = fmt::format("a running lab of {} nodes", state->links.size()),
       .remedy = fmt::format("remove it first with: tributary lab down --name {}", name)});
}

// Reads the setting from the kernel, which may have chosen a default.
std::string congestion_control_in_force(const std::string& name) {
  const Result<InNamespace> inside = InNamespace::enter(node_namespace(name, 0));
  std::string word;
  std::ifstream("/proc/sys/net/ipv4/tcp_congestion_control") >> word;
  return word;
}

// TAPs must exist before the lines that configure them. The relay starts last, when the links are
// complete.
Result<LabState> make_lab(const LabPlan& plan, const LabUp& command) {
  TRIBUTARY_TRY(make_namespaces(plan, command.congestion_control));
  TRIBUTARY_ASSIGN(const RelayTaps taps, RelayTaps::open(plan));
  TRIBUTARY_TRY(make_links(plan));
  LabState state = {.name = plan.name,
                    .mtu_bytes = plan.mtu_bytes,
                    .links = {},
                    .congestion_control = congestion_control_in_force(plan.name)};
  for (const LinkSettings& link : plan.links) state.links.push_back(link_text(link));
  if (plan.needs_relay()) {
    TRIBUTARY_ASSIGN(
        state.relay,
        start_relay(plan, taps, {.seed = command.seed, .counts_path = lab_counts_path(plan.name)}));
  }
  TRIBUTARY_TRY(write_lab_state(state));
  return state;
}

// The keys and words are part of the command's published output.
Json node_json(const LabPlan& plan, std::uint32_t node) {
  const LinkSettings& link = plan.links[node];
  return {{"node", node},
          {"namespace", node_namespace(plan.name, node)},
          {"address", node_address(node)},
          {"link", link_text(link)},
          {"kind", needs_user_space(link) ? "user-space" : "kernel"}};
}

// Empty if a trace determines the delay.
std::string round_trip_text(const LabPlan& plan) {
  const LinkSettings& first = plan.links.front();
  const LinkSettings& last = plan.links.back();
  if (!first.trace.empty() || !last.trace.empty()) return {};
  return fmt::format("; round trip between nodes 0 and {} {:.3g} ms on idle links",
                     plan.nodes() - 1, 1e3 * round_trip_s(first, last));
}

// Ends with the command that a user needs next.
Answer answer(const LabPlan& plan, const LabState& state) {
  Table table({"node", "address", "namespace", "link", "by"});
  Json nodes = Json::array();
  for (std::uint32_t node = 0; node < plan.nodes(); ++node) {
    Json json = node_json(plan, node);
    table.add(
        {fmt::format("{}", node), json["address"], json["namespace"], json["link"], json["kind"]});
    nodes.push_back(std::move(json));
  }
  return {
      .text = fmt::format("{}\ncongestion control {}{}\n"
                          "tributary lab exec --name {} --node 0 -- COMMAND\n",
                          table.text(), state.congestion_control, round_trip_text(plan), plan.name),
      .data = json_text(Json{{"name", plan.name},
                             {"mtu_bytes", plan.mtu_bytes},
                             {"congestion_control", state.congestion_control},
                             {"nodes", nodes}})};
}

// A lab that could not be completed is removed.
Result<Answer> up(const LabUp& command) {
  TRIBUTARY_ASSIGN(LabPlan plan, plan_lab(command.name, command.nodes, command.mtu_bytes,
                                          command.everywhere, command.own));
  if (command.uplink) TRIBUTARY_TRY(place_gateway(plan, *command.uplink));
  TRIBUTARY_TRY(check_lab_is_possible());
  // The lock is held until the end: two commands must not build or remove the same lab at once.
  TRIBUTARY_ASSIGN(const LabLock lock, LabLock::take());
  TRIBUTARY_TRY(remove_remains(plan.name));
  Result<LabState> state = make_lab(plan, command);
  if (!state.ok()) {
    ignore_error(take_down(plan.name));  // the first error is the one to report
    return std::move(state).status();
  }
  return answer(plan, *state);
}

// An option for one setting of all links. `key` is its name in --node and in descriptions.
Option setting(LinkSettings& link, std::string_view key, std::string_view option,
               std::string_view value_name, std::string help) {
  return {.name = option,
          .value_name = value_name,
          .help = std::move(help),
          .accept = [&link, key](const std::string& value) { return set_link(link, key, value); }};
}

std::vector<Option> options(LabUp& command) {
  LinkSettings& link = command.everywhere;
  return {{.name = "--name",
           .value_name = "NAME",
           .help = "name of the lab (lab)",
           .accept = [&command](const std::string& value) -> Status {
             command.name = value;
             return check_lab_name(value);
           }},
          {.name = "--nodes",
           .value_name = "N",
           .help = "number of nodes, 1 to 200 (4)",
           .accept = accept_count(command.nodes, 1u, kLabNodesMax)},
          setting(link, "rate", "--rate", "RATE",
                  "rate of each link in each direction, for example 100mbit (unlimited)"),
          setting(link, "up-rate", "--up-rate", "RATE", "rate from the node only"),
          setting(link, "down-rate", "--down-rate", "RATE", "rate to the node only"),
          setting(link, "delay", "--delay", "TIME",
                  "delay of each link in each direction, for example 10ms (0)"),
          setting(link, "jitter", "--jitter", "TIME",
                  "largest additional delay; the order is kept (0)"),
          setting(link, "loss", "--loss", "SHARE",
                  "share of the packets lost in each direction, for example 1% (0)"),
          setting(link, "reorder", "--reorder", "SHARE",
                  "share of the packets that skip the delay (0)"),
          setting(link, "queue", "--queue", "BYTES",
                  "size of the queue; further packets are dropped (by rate and delay)"),
          setting(link, "trace", "--trace", "FILE", "trace of rate, delay and loss over time"),
          {.name = "--node",
           .value_name = "NODE:KEY=VALUE,...",
           .help = "settings of node 0 to N-1; keys are the options above",
           .accept = [&command](const std::string& value) -> Status {
             TRIBUTARY_ASSIGN(command.own.emplace_back(), parse_node_settings(value));
             return {};
           },
           .repeatable = true},
          {.name = "--gateway",
           .value_name = "KEY=VALUE,...",
           .help = "the last node routes between node 0 and the others; settings of its\n"
                   "line to node 0, for example rate=10mbit,delay=20ms",
           .accept = [&command](const std::string& value) -> Status {
             command.uplink = value;
             return {};
           }},
          {.name = "--mtu",
           .value_name = "N",
           .help = "size of the largest IP packet in bytes (1500)",
           .accept = accept_count(command.mtu_bytes, kLabMtuMin, kLabMtuMax)},
          {.name = "--congestion",
           .value_name = "NAME",
           .help = "TCP congestion control in the nodes (the system's)",
           .accept = [&command](const std::string& value) -> Status {
             command.congestion_control = value;
             return {};
           }},
          {.name = "--seed",
           .value_name = "N",
           .help = "seed of jitter, loss and reordering (1)",
           .accept = accept_count<std::uint64_t>(command.seed, 0)}};
}

}  // namespace

Command lab_up_command() {
  const auto command = std::make_shared<LabUp>();
  return {.noun = "lab",
          .verb = "up",
          .summary = "create nodes with links between them, for any program",
          .details =
              "Each node is a network namespace with one interface, eth0, whose link leads to a\n"
              "bridge. The kernel emulates links that have only a rate; a process emulates all\n"
              "others. Needs root and iproute2; the network of the host does not change. A packet\n"
              "from node to node crosses two links.\n\n"
              "examples:\n"
              "  tributary lab up --nodes 4 --rate 1gbit\n"
              "  tributary lab up --name far --nodes 4 --rate 100mbit --delay 10ms --loss 0.1%\n"
              "  tributary lab up --nodes 3 --rate 1gbit --node 2:rate=10mbit,delay=50ms\n"
              "  tributary lab up --nodes 6 --rate 1gbit --gateway rate=10mbit\n"
              "  tributary lab up --nodes 8 --trace phases.csv --congestion cubic",
          .options = options(*command),
          .run = [command](World&) { return up(*command); }};
}

}  // namespace tributary
