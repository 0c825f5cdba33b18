// tributary keys show: prints a public key or an allow-list.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/net/access/allow_list.h"
#include "core/net/keys/keys.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// Exactly one of the two is given.
struct KeysShowOptions {
  std::string key_file;
  std::string list;
};

// The file has both halves; the answer contains only the public one.
Result<Answer> show_key(const std::string& file) {
  TRIBUTARY_ASSIGN(const KeyPair keys, read_key_pair(file));
  const std::string text = key_text(keys.public_key);
  Answer answer;
  answer.text = text + "\n";
  answer.data = json_text({{"public_key", text}});
  return answer;
}

// One line per agent, in the order of the file. Comments are untrusted text and are escaped.
Result<Answer> show_list(const std::string& file) {
  TRIBUTARY_ASSIGN(const std::vector<AllowedAgent> agents, read_allow_file(file));
  Answer answer;
  Json all = Json::array();
  for (const AllowedAgent& agent : agents) {
    answer.text += fmt::format("{}  {}{}{}\n", key_text(agent.key), agent.id,
                               agent.comment.empty() ? "" : "  ", printable(agent.comment));
    all.push_back(
        {{"id", agent.id}, {"public_key", key_text(agent.key)}, {"comment", agent.comment}});
  }
  if (agents.empty()) answer.text = "no agent is allowed\n";
  answer.data = json_text({{"allowed", std::move(all)}});
  return answer;
}

Result<Answer> show(const KeysShowOptions& options) {
  if (options.key_file.empty() != options.list.empty()) {
    return options.list.empty() ? show_key(options.key_file) : show_list(options.list);
  }
  return Status(StatusCode::invalid_argument, {.what = "what to show",
                                               .expected = "either --key-file or --list",
                                               .got = options.list.empty() ? "neither" : "both",
                                               .remedy = "see 'tributary keys show --help'"});
}

}  // namespace

Command keys_show_command() {
  const auto options = std::make_shared<KeysShowOptions>();
  return {.noun = "keys",
          .verb = "show",
          .summary = "print the public half of a key pair, or an allow-list",
          .details =
              "Never prints the secret half.\n\n"
              "examples:\n"
              "  tributary keys show --key-file agent.key\n"
              "  tributary keys show --list agents.allow --json",
          .options = {{.name = "--key-file",
                       .value_name = "FILE",
                       .help = "key pair created by 'keys new'",
                       .accept = accept_file(options->key_file)},
                      {.name = "--list",
                       .value_name = "FILE",
                       .help = "allow-list",
                       .accept = accept_file(options->list)}},
          .run = [options](World&) { return show(*options); }};
}

}  // namespace tributary
