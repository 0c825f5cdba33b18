// tributary keys allow: adds an agent to an allow-list.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "core/net/access/allow_list.h"

namespace tributary {
namespace {

// The key comes from the command line or from a file; has_key tells which.
struct AllowOptions {
  std::string list;
  AllowedAgent agent;
  bool has_key = false;
  std::string key_file;
};

// Checks only the form of the key. Whether it belongs to the agent cannot be checked here.
Accept accept_key(AllowOptions& options) {
  return [&options](const std::string& value) -> Status {
    TRIBUTARY_ASSIGN(options.agent.key, parse_public_key(value));
    options.has_key = true;
    return {};
  };
}

Result<Answer> allow(const AllowOptions& options) {
  AllowedAgent agent = options.agent;
  // Exactly one of the two options must be given. The two values differ if both or neither are.
  if (options.has_key != options.key_file.empty()) {
    return Status(StatusCode::invalid_argument, {.what = "the agent's public key",
                                                 .expected = "either --key or --key-file",
                                                 .got = options.has_key ? "both" : "neither",
                                                 .remedy = "see 'tributary keys allow --help'"});
  }
  if (!options.has_key) {
    TRIBUTARY_ASSIGN(agent.key, read_public_key(options.key_file));
  }
  TRIBUTARY_TRY(allow_in_file(options.list, agent));
  Answer answer;
  answer.text = fmt::format("{} may connect as {}\n", key_text(agent.key), agent.id);
  answer.data = json_text({{"id", agent.id},
                           {"public_key", key_text(agent.key)},
                           {"comment", agent.comment},
                           {"list", options.list}});
  return answer;
}

}  // namespace

Command keys_allow_command() {
  const auto options = std::make_shared<AllowOptions>();
  return {.noun = "keys",
          .verb = "allow",
          .summary = "add an agent to an allow-list",
          .details =
              "The list is created if it does not exist. A refused agent connects automatically "
              "when the\n"
              "coordinator has read the list again.\n\n"
              "examples:\n"
              "  tributary keys allow --list agents.allow --id garage-01 --key-file agent.key.pub\n"
              "  tributary keys allow --list agents.allow --id roof --comment 'west side' \\\n"
              "      --key 'HelloWorldHelloWorldHelloWorldHelloWorld'",
          .options = {{.name = "--list",
                       .value_name = "FILE",
                       .help = "allow-list",
                       .accept = accept_file(options->list),
                       .required = true},
                      {.name = "--id",
                       .value_name = "ID",
                       .help = "identifier of the agent: letters, digits, '.', '-' and '_'",
                       .accept = accept_text(options->agent.id),
                       .required = true},
                      {.name = "--key",
                       .value_name = "KEY",
                       .help = "public key of the agent, 40 characters, in single quotes",
                       .accept = accept_key(*options)},
                      {.name = "--key-file",
                       .value_name = "FILE",
                       .help = "file with the public key of the agent, instead of --key",
                       .accept = accept_file(options->key_file)},
                      {.name = "--comment",
                       .value_name = "TEXT",
                       .help = "comment in the list",
                       .accept = accept_text(options->agent.comment)}},
          .run = [options](World&) { return allow(*options); }};
}

}  // namespace tributary
