// tributary keys revoke: removes an agent from an allow-list.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "core/net/access/allow_list.h"

namespace tributary {
namespace {

// The id is enough: a list has every id at most once.
struct RevokeOptions {
  std::string list;
  std::string id;
};

Result<Answer> revoke(const RevokeOptions& options) {
  TRIBUTARY_ASSIGN(const AllowedAgent gone, revoke_in_file(options.list, options.id));
  Answer answer;
  answer.text = fmt::format("{} ({}) may no longer connect\n", gone.id, key_text(gone.key));
  answer.data =
      json_text({{"id", gone.id}, {"public_key", key_text(gone.key)}, {"list", options.list}});
  return answer;
}

}  // namespace

Command keys_revoke_command() {
  const auto options = std::make_shared<RevokeOptions>();
  return {.noun = "keys",
          .verb = "revoke",
          .summary = "remove an agent from an allow-list",
          .details =
              "Takes effect when the coordinator has read the list again: the coordinator\n"
              "exchanges no more data with the agent, and the agent cannot connect.\n\n"
              "examples:\n"
              "  tributary keys revoke --list agents.allow --id garage-01\n"
              "  tributary keys revoke --list agents.allow --id roof --json",
          .options = {{.name = "--list",
                       .value_name = "FILE",
                       .help = "allow-list",
                       .accept = accept_file(options->list),
                       .required = true},
                      {.name = "--id",
                       .value_name = "ID",
                       .help = "identifier of the agent",
                       .accept = accept_text(options->id),
                       .required = true}},
          .run = [options](World&) { return revoke(*options); }};
}

}  // namespace tributary
