// tributary keys join: creates an agent's key pair and its join file, and allows the agent.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "core/net/access/allow_list.h"
#include "core/net/access/join_file.h"

namespace tributary {
namespace {

// agent.key stays unset: the command makes the key pair.
struct JoinOptions {
  AllowedAgent agent;
  std::string coordinator;
  std::string list;
  std::string coordinator_key_file;
  std::string out;  // empty: AGENT_ID.join
};

// The file is written before the agent is allowed, so that no agent is allowed without a file. If
// allowing fails, the file is removed.
Result<Answer> join(const JoinOptions& options) {
  TRIBUTARY_TRY(check_agent_id(options.agent.id));
  const std::string out = options.out.empty() ? options.agent.id + ".join" : options.out;
  TRIBUTARY_ASSIGN(const PublicKey coordinator_key, read_public_key(options.coordinator_key_file));
  TRIBUTARY_ASSIGN(const KeyPair keys, make_key_pair());
  TRIBUTARY_TRY(write_join_file(out, {.agent_id = options.agent.id,
                                      .coordinator = options.coordinator,
                                      .coordinator_key = coordinator_key,
                                      .keys = keys}));
  AllowedAgent agent = options.agent;
  agent.key = keys.public_key;
  if (Status status = allow_in_file(options.list, agent); !status.ok()) {
    std::error_code ignored;
    // The pair was made by this call, so no other file can refer to it.
    std::filesystem::remove(out, ignored);
    return status;
  }
  Answer answer;
  answer.text = fmt::format(
      "{0} may connect as {1} when the coordinator has read {2} again:\n"
      "  systemctl reload tributary-coordinator (or SIGHUP)\n\n"
      "{3} contains everything that the agent needs, including its secret key. Copy it to the\n"
      "device over a private channel (scp) as /etc/tributary/agent.join, and remove it here.\n",
      key_text(agent.key), agent.id, options.list, out);
  answer.data = json_text({{"id", agent.id},
                           {"public_key", key_text(agent.key)},
                           {"coordinator", options.coordinator},
                           {"coordinator_key", key_text(coordinator_key)},
                           {"comment", agent.comment},
                           {"join_file", out},
                           {"list", options.list}});
  return answer;
}

}  // namespace

Command keys_join_command() {
  const auto options = std::make_shared<JoinOptions>();
  return {
      .noun = "keys",
      .verb = "join",
      .summary = "create a file with everything that an agent needs to connect",
      .details =
          "Creates a key pair for the agent, adds the agent to the allow-list, and writes one "
          "file for\n"
          "the device: identifier, endpoint of the coordinator, and both keys. An existing file is "
          "never\n"
          "replaced, and the secret half is never printed.\n\n"
          "examples:\n"
          "  tributary keys join garage-01 --coordinator tcp://coordinator.lan:4640 \\\n"
          "      --list agents.allow --coordinator-key-file coordinator.key.pub\n"
          "  tributary keys join roof --coordinator tcp://10.0.0.5:4640 --list agents.allow \\\n"
          "      --coordinator-key-file coordinator.key.pub --out roof.join --json",
      .options = {{.name = "AGENT_ID",
                   .value_name = "ID",
                   .help = "identifier of the agent: letters, digits, '.', '-' and '_'",
                   .accept = accept_text(options->agent.id),
                   .required = true},
                  {.name = "--coordinator",
                   .value_name = "ENDPOINT",
                   .help = "endpoint of the coordinator: tcp://HOST:PORT",
                   .accept = accept_text(options->coordinator),
                   .required = true},
                  {.name = "--list",
                   .value_name = "FILE",
                   .help = "allow-list of the coordinator; created if it does not exist",
                   .accept = accept_file(options->list),
                   .required = true},
                  {.name = "--coordinator-key-file",
                   .value_name = "FILE",
                   .help = "public key of the coordinator",
                   .accept = accept_file(options->coordinator_key_file),
                   .required = true},
                  {.name = "--out",
                   .value_name = "FILE",
                   .help = "file for the device (AGENT_ID.join)",
                   .accept = accept_file(options->out)},
                  {.name = "--comment",
                   .value_name = "TEXT",
                   .help = "comment in the list",
                   .accept = accept_text(options->agent.comment)}},
      .run = [options](World&) { return join(*options); }};
}

}  // namespace tributary
