// Fuzz target: an allow-list that parses has the same content after it was written and read again.
#include <cstdlib>
#include <set>

#include "core/net/access/allow_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  const auto agents = parse_allow_list({reinterpret_cast<const char*>(data), size});
  if (!agents.ok()) return 0;
  std::string text;
  std::set<std::string> ids;
  for (const AllowedAgent& agent : *agents) {
    require(ids.insert(agent.id).second);
    text += agent.id + " " + key_text(agent.key) + " " + agent.comment + "\n";
  }
  const auto again = parse_allow_list(text);
  require(again.ok() && again->size() == agents->size());
  for (std::size_t i = 0; i < agents->size(); ++i) {
    require((*again)[i].id == (*agents)[i].id && (*again)[i].key == (*agents)[i].key);
    require((*again)[i].comment == (*agents)[i].comment);
  }
  return 0;
}
