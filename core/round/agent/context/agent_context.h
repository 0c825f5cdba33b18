// Lends the parts of an agent the things that all of them use during an event: the configuration,
// the time, the actions to be taken and the queue of records to be stored. It knows no part.
//
// Ownership: the agent owns it, and it outlives every part. Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/round/agent/context/agent_config.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/store_queue.h"

namespace tributary {

// Collects the actions of an event in their order, and labels notes with the job and the round that
// the agent has at that moment.
class ActionList {
 public:
  Actions& all() { return all_; }
  Actions take() { return std::exchange(all_, {}); }
  void add(Action action) { all_.push_back(std::move(action)); }

  // The labels of the notes from here on; 0: none.
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

  // 0 where no stopwatch is configured: then every duration is 0.
  TimeNs stopwatch_ns() const { return config.stopwatch ? config.stopwatch() : 0; }

  const AgentConfig config;
  TimeNs now = 0;  // of the event that is being handled
  ActionList out;
  StoreQueue<AgentRecordToStore> store;
};

}  // namespace tributary
