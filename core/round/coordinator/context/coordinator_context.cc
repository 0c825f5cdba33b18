#include "core/round/coordinator/context/coordinator_context.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/random.h"

namespace tributary {

// Numbers are drawn from a seed of the configuration, so that a simulation with the same seed
// repeats them.
std::uint64_t CoordinatorContext::draw_from(std::uint64_t seed) {
  while (true) {
    const StreamKey key =
        stream_key({.job_seed = seed, .round = ++drawn_, .purpose = DrawPurpose::selection});
    const std::uint64_t number = (std::uint64_t{key.a} << 32) | key.b;
    if (number != 0) return number;
  }
}

void CoordinatorContext::note(LogLevel level, std::string_view name, std::string_view reason,
                              std::string source, std::string text, const RoundKey& key) {
  out.emplace_back(Note{.level = level,
                        .name = name,
                        .reason = reason,
                        .source = std::move(source),
                        .text = std::move(text),
                        .job = key.job,
                        .round = key.round});
}

void CoordinatorContext::record_agent(const AgentSession& session, bool connected) {
  AgentRecord record{.agent_id = session.agent_id,
                     .incarnation = session.incarnation,
                     .build = session.build,
                     .device_model = session.device_model,
                     .connected = connected,
                     .job = session.job,
                     .model_version = session.version};
  // Merging keeps a reconnection of many agents from filling the queue with one transaction each.
  if (CoordinatorRecord* tail = store.open_tail()) {
    if (auto* records = std::get_if<AgentRecords>(tail)) {
      const auto same = std::ranges::find(records->agents, record.agent_id, &AgentRecord::agent_id);
      if (same == records->agents.end()) {
        records->agents.push_back(std::move(record));
      } else {
        *same = std::move(record);
      }
      return;
    }
  }
  store.push(AgentRecords{.agents = {std::move(record)}});
}

}  // namespace tributary
