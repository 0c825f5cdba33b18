// The context that the parts of an agent share while they handle an event: configuration, time,
// actions and the queue of records to store. It depends on no part.
//
// The agent owns it, and it outlives every part. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/round/agent/context/agent_config.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/store_queue.h"

namespace tributary {

// Collects the actions of an event in their order, and labels notes with the agent's current job
// and round.
class ActionList {
 public:
  Actions& all() { return all_; }
  Actions take() { return std::exchange(all_, {}); }
  void add(Action action) { all_.push_back(std::move(action)); }

  // Labels of all later notes; 0: none.
  void set_job(std::uint64_t job) { job_ = job; }
  void set_round(std::uint64_t round) { round_ = round; }

  void note(LogLevel level, std::string_view name, std::string_view reason, std::string text) {
    add(Note{.level = level,
             .name = name,
             .reason = reason,
             .source = "coordinator",
             .text = std::move(text),
             .job = job_,
             .round = round_});
  }
  void refuse_frame(std::string_view reason, std::string text) {
    note(LogLevel::warning, "frame_refused", reason, std::move(text));
  }

 private:
  Actions all_;
  std::uint64_t job_ = 0;
  std::uint64_t round_ = 0;
};

struct AgentContext {
  explicit AgentContext(AgentConfig agent_config) : config(std::move(agent_config)) {}

  // The stopwatch's time; 0 without a stopwatch, so that every duration is 0.
  TimeNs stopwatch_ns() const { return config.stopwatch ? config.stopwatch() : 0; }

  const AgentConfig config;
  TimeNs now = 0;  // time of the event that is being handled
  ActionList out;
  StoreQueue<AgentRecordToStore> store;
};

}  // namespace tributary
