// tributary keys new: creates a key pair.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "core/net/keys/keys.h"

namespace tributary {
namespace {

// Path of the key file; the public half gets the suffix ".pub".
struct NewKeyOptions {
  std::string out;
};

Result<Answer> make(const NewKeyOptions& options) {
  TRIBUTARY_ASSIGN(const KeyPair keys, make_key_pair());
  const std::string public_file = options.out + ".pub";
  // Both calls refuse an existing file, so a key in use is never lost.
  TRIBUTARY_TRY(write_key_pair(options.out, keys));
  TRIBUTARY_TRY(write_public_key(public_file, keys.public_key));
  const std::string public_text = key_text(keys.public_key);
  Answer answer;
  answer.text = fmt::format(
      "public key  {}\n\n"
      "{} contains both halves: keep it secret.\n"
      "{} contains the public half, for the other side of the connection.\n",
      public_text, options.out, public_file);
  answer.data = json_text(
      {{"public_key", public_text}, {"key_file", options.out}, {"public_key_file", public_file}});
  return answer;
}

}  // namespace

Command keys_new_command() {
  const auto options = std::make_shared<NewKeyOptions>();
  return {.noun = "keys",
          .verb = "new",
          .summary = "create a key pair",
          .details =
              "Every coordinator, agent and observer has its own key pair. An existing file is\n"
              "never replaced.\n\n"
              "examples:\n"
              "  tributary keys new --out agent.key\n"
              "  tributary keys new --out coordinator.key --json",
          .options = {{.name = "--out",
                       .value_name = "FILE",
                       .help = "file for the pair; the public half is written to FILE.pub",
                       .accept = accept_file(options->out),
                       .required = true}},
          .run = [options](World&) { return make(*options); }};
}

}  // namespace tributary
