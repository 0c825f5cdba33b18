// What the objects of the coordinator share: configuration, time, actions, sessions, the store
// queue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/round/common/machine/store_queue.h"
#include "core/round/common/plan/round_plan.h"
#include "core/round/coordinator/context/coordinator_config.h"
#include "core/round/coordinator/context/roster.h"
#include "schemas/limits.h"

namespace tributary {

// Of the parts that a coordinator sends.
inline std::uint32_t part_bytes_max(const CoordinatorConfig& config) {
  return std::min(config.payload_bytes_max, wire::kPayloadBytesMax);
}

struct CoordinatorContext {
  CoordinatorConfig config;
  TimeNs now = 0;
  Actions out;
  CodecCache cache;
  Roster roster;
  StoreQueue<CoordinatorRecord> store;

  // A number that is not 0 and that no other life of a coordinator is likely to draw.
  std::uint64_t draw();
  Token next_token() { return ++last_token_; }

  void note(LogLevel level, std::string_view name, std::string_view reason, std::string source,
            std::string text, const RoundKey& key = {});
  // For people: who it is and what it does, as it is now.
  void record_agent(const AgentSession& session, bool connected);
  void refuse(AgentSession& session, std::string_view reason, std::string text,
              const RoundKey& key = {}) {
    note(LogLevel::warning, "frame_refused", reason, session.agent_id, std::move(text), key);
  }

 private:
  std::uint64_t drawn_ = 0;
  Token last_token_ = 0;
};

}  // namespace tributary
