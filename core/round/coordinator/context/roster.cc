#include "core/round/coordinator/context/roster.h"

#include <utility>

namespace tributary {

AgentSession& Roster::add(std::unique_ptr<AgentSession> session) {
  const std::uint64_t number = session->conversation.session();
  by_agent_[session->agent_id] = number;
  return *(sessions_[number] = std::move(session));
}

void Roster::remove(std::uint64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const auto named = by_agent_.find(found->second->agent_id);
  if (named != by_agent_.end() && named->second == session) by_agent_.erase(named);
  sessions_.erase(found);
}

AgentSession* Roster::by_session(std::uint64_t session) {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second.get();
}

AgentSession* Roster::by_agent(const std::string& agent_id) {
  const auto found = by_agent_.find(agent_id);
  return found == by_agent_.end() ? nullptr : by_session(found->second);
}

}  // namespace tributary
