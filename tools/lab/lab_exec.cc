// The command `tributary lab exec`.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/accept.h"
#include "cli/json.h"
#include "core/lab/lab_names.h"
#include "tools/lab/lab_commands.h"
#include "tools/lab/lab_everywhere.h"
#include "tools/lab/lab_kernel.h"

namespace tributary {
namespace {

// Not a valid node: --node was not given.
constexpr std::uint32_t kNoNode = kLabNodesMax;

// The options. Exactly one of `node` and `all` must be given.
struct LabExec {
  std::string name = "lab";
  std::uint32_t node = kNoNode;
  bool all = false;
  std::vector<std::string> command;
};

// Distinguishes a missing lab from one that a crash has left incomplete.
Result<FoundLab> find_lab(const std::string& name) {
  const auto labs = find_labs();
  const auto found = labs.find(name);
  if (found != labs.end() && found->second.complete()) return found->second;
  return Status(StatusCode::not_found,
                {.what = fmt::format("a lab named '{}'", name),
                 .expected = "a running lab",
                 .got = found == labs.end() ? "none" : "the remains of a crashed lab",
                 .remedy = fmt::format("create it with: tributary lab up --name {}", name)});
}

// Replaces this process by the command, so that exit code and signals are those of the command.
// Returns only on an error.
Status become(const LabExec& exec, std::uint32_t nodes) {
  std::vector<std::string> words = lab_command(exec.name, exec.node, nodes, exec.command);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  ::execvp(arguments[0], arguments.data());
  return Status(StatusCode::io_error, {.what = "the program 'ip'",
                                       .expected = "the program of the package iproute2",
                                       .got = std::generic_category().message(errno),
                                       .remedy = "install it: apt-get install iproute2"});
}

// The exit code is that of the first program that failed.
Result<Answer> run_everywhere(const LabExec& exec, std::uint32_t nodes) {
  TRIBUTARY_ASSIGN(const EverywhereOutcome outcome,
                   run_in_every_node(exec.name, nodes, exec.command));
  Answer answer;
  answer.exit_code = outcome.exit_code;
  answer.data = json_text(nlohmann::ordered_json{{"exit_code", outcome.exit_code},
                                                 {"exit_codes", outcome.exit_codes},
                                                 {"first_to_fail", outcome.first_to_fail}});
  return answer;
}

Result<Answer> run(const LabExec& exec) {
  if (exec.all == (exec.node != kNoNode)) {
    return Status(StatusCode::invalid_argument, {.what = "where to run the command",
                                                 .expected = "either --node N or --all",
                                                 .got = exec.all ? "both" : "none",
                                                 .remedy = "see 'tributary lab exec --help'"});
  }
  TRIBUTARY_TRY(check_lab_is_possible());
  TRIBUTARY_ASSIGN(const FoundLab found, find_lab(exec.name));
  const auto nodes = static_cast<std::uint32_t>(found.nodes.size());
  if (exec.all) return run_everywhere(exec, nodes);
  if (exec.node >= nodes) {
    return Status(StatusCode::invalid_argument,
                  {.what = "the node",
                   .expected = fmt::format("a number from 0 to {}", nodes - 1),
                   .got = fmt::format("{}", exec.node),
                   .remedy = {}});
  }
  return become(exec, nodes);
}

}  // namespace

Command lab_exec_command() {
  const auto exec = std::make_shared<LabExec>();
  return {.noun = "lab",
          .verb = "exec",
          .summary = "run a program in a node, or in every node at once",
          .details =
              "Requires --node or --all. With --node the program replaces this process, so exit\n"
              "code and signals are its own. With --all the first program that fails ends the\n"
              "others and determines the exit code. Ctrl-C ends all, and standard input is empty.\n"
              "The environment has TRIBUTARY_NODE, TRIBUTARY_NODES and TRIBUTARY_ADDRESS, and\n"
              "/etc/hosts has the names node-0, node-1, ...\n\n"
              "examples:\n"
              "  tributary lab exec --node 0 -- ip addr\n"
              "  tributary lab exec --node 2 -- ping -c 3 node-0\n"
              "  tributary lab exec --all -- sh -c 'my-ring --rank $TRIBUTARY_NODE'",
          .options = {{.name = "--name",
                       .value_name = "NAME",
                       .help = "name of the lab (lab)",
                       .accept = [exec](const std::string& value) -> Status {
                         exec->name = value;
                         return check_lab_name(value);
                       }},
                      {.name = "--node",
                       .value_name = "N",
                       .help = "node in which the program runs",
                       .accept = accept_count(exec->node, 0u, kLabNodesMax - 1)},
                      {.name = "--all",
                       .value_name = {},
                       .help = "run the program in every node at once",
                       .accept = accept_flag(exec->all)},
                      {.name = "COMMAND",
                       .value_name = "WORD",
                       .help = "after --: the program and its arguments",
                       .accept = [exec](const std::string& value) -> Status {
                         exec->command.push_back(value);
                         return {};
                       },
                       .required = true,
                       .repeatable = true}},
          .run = [exec](World&) { return run(*exec); }};
}

}  // namespace tributary
