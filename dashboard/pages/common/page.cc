#include "dashboard/pages/common/page.h"

#include <algorithm>

namespace tributary::dashboard {
namespace {

// Colours repeat long before; further agents get theirs when they are drawn.
constexpr std::size_t kAgentsColoured = 256;

}  // namespace

void PageContext::give_colours(const std::vector<RunSession*>& runs) {
  ColourSlots& colours = group_.colours();
  for (const RunSession* run : runs) colours.slot_of(run->key());
  for (const RunSession* run : runs) {
    const std::vector<AgentRow>& agents = run->view().agents();
    for (std::size_t i = 0; i < std::min(agents.size(), kAgentsColoured); ++i) {
      if (agents[i].info.agent_id.empty()) continue;
      colours.slot_of(QString::fromStdString(agents[i].info.agent_id));
    }
  }
}

}  // namespace tributary::dashboard
