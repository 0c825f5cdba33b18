// The agent's journal, written on a thread of its own; and what its records say of the job's end.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "core/base/log/log.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/worker.h"
#include "core/store/agent/agent_journal.h"

namespace tributary {

class AgentStorage {
 public:
  struct Parts {
    std::function<void(Event)> post;                     // to the agent's machine; any thread
    std::function<void(SharedBytes)> definition_stored;  // of the job; the journal's thread, too
    Log& log;
  };

  static Result<std::unique_ptr<AgentStorage>> open(const JournalOptions& options, Parts parts);
  AgentStorage(const AgentStorage&) = delete;
  AgentStorage& operator=(const AgentStorage&) = delete;

  // What the journal has; once, before store().
  Result<AgentState> restore();
  // Is answered by Stored.
  void store(StoreAgent& wanted);

  // The job is over, as it was stored last: finished, or stopped before its last round. Any thread.
  bool job_over() const { return job_over_; }
  // The version that a model has then, at least.
  std::uint64_t last_version() const { return last_version_; }

 private:
  AgentStorage(std::unique_ptr<AgentJournal> journal, Parts parts)
      : parts_(std::move(parts)), journal_(std::move(journal)) {}

  void stored(const AgentRecordToStore& record);
  void job_stored(const AgentJobRecord& job);

  const Parts parts_;
  const std::unique_ptr<AgentJournal> journal_;
  std::atomic<bool> job_over_ = false;
  std::atomic<std::uint64_t> last_version_ = 0;
  Worker thread_;  // ends before all of these
};

}  // namespace tributary
