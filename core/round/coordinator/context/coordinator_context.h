// The context that the objects of a coordinator share: configuration, time, actions, sessions and
// the store queue. The coordinator owns it; it outlives those objects. Not thread-safe.
//
// `now` and `out` belong to the event that is being handled: the coordinator sets the time before
// and takes the actions after it.
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
#include "core/round/coordinator/context/sum_handles.h"
#include "schemas/limits.h"

namespace tributary {

// Limit for one part that the coordinator sends, in bytes.
inline std::uint32_t part_bytes_max(const CoordinatorConfig& config) {
  return std::min(config.payload_bytes_max, wire::kPayloadBytesMax);
}

struct CoordinatorContext {
  explicit CoordinatorContext(CoordinatorConfig configuration = {})
      : config(std::move(configuration)), outgoing(config.outgoing_bytes_max) {}

  CoordinatorConfig config;
  TimeNs now = 0;
  Actions out;
  CodecCache cache;
  SharedWindow outgoing;  // of the sessions below
  Roster roster;
  SumHandles sum_handles;
  StoreQueue<CoordinatorRecord> store;

  // Draws a number that is not 0 and that another run of a coordinator is unlikely to draw.
  std::uint64_t draw() { return draw_from(config.incarnation); }
  // The same for a secret of the linear check. Sessions show numbers of draw() to aggregators.
  std::uint64_t draw_check_secret() { return draw_from(config.check_seed); }
  Token next_token() { return ++last_token_; }

  // Appends a Note.
  void note(LogLevel level, std::string_view name, std::string_view reason, std::string source,
            std::string text, const RoundKey& key = {});
  // Stores the current state of an agent for the telemetry. Records that wait in the queue are
  // merged.
  void record_agent(const AgentSession& session, bool connected);
  // Notes that a message of this session was refused.
  void refuse(AgentSession& session, std::string_view reason, std::string text,
              const RoundKey& key = {}) {
    note(LogLevel::warning, "frame_refused", reason, session.agent_id, std::move(text), key);
  }

 private:
  std::uint64_t draw_from(std::uint64_t seed);

  std::uint64_t drawn_ = 0;
  Token last_token_ = 0;
};

}  // namespace tributary
