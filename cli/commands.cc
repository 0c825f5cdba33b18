#include "cli/commands.h"

#include <array>

namespace tributary {

std::span<const Noun> all_nouns() {
  static constexpr std::array<Noun, 3> kNouns = {{
      {"codec", "list the codecs, use them on files, measure them"},
      {"keys", "make keys, and say who may connect"},
      {"plan", "work out what a federation is to use"},
  }};
  return kNouns;
}

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  commands.push_back(codec_list_command());
  commands.push_back(codec_encode_command());
  commands.push_back(codec_decode_command());
  commands.push_back(codec_measure_command());
  commands.push_back(keys_new_command());
  commands.push_back(keys_show_command());
  commands.push_back(keys_allow_command());
  commands.push_back(keys_revoke_command());
  commands.push_back(plan_table_command());
  commands.push_back(demo_command());
  commands.push_back(load_command());
  return commands;
}

}  // namespace tributary
