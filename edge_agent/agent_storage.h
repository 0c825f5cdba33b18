// Writes the agent's journal on a thread of its own, and reports from its records whether the job
// is over.
//
// Methods belong to the thread of the state machine, except where a comment says otherwise.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/base/log/log.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/loop/worker.h"
#include "core/store/agent/agent_journal.h"
#include "core/store/durability/periodic_sync.h"

namespace tributary {

class AgentStorage {
 public:
  struct Parts {
    // Delivers an event to the state machine; called on any thread.
    std::function<void(Event)> post;
    // Receives the job's definition once it is stored or restored; called on the journal's thread,
    // too.
    std::function<void(SharedBytes)> definition_stored;
    Log& log;
  };

  // Opens or creates the journal and reads it. A damaged journal is set aside
  // (AgentJournal::set_aside()) and a new one begins: the coordinator has the model, and only the
  // contents of the residual are lost. Returns the journal's error if it cannot be used. parts.log
  // must outlive the object.
  static Result<std::unique_ptr<AgentStorage>> open(const JournalOptions& options, Parts parts);
  // Finishes the record in progress, and closes the journal: a power failure undoes nothing then.
  ~AgentStorage();
  AgentStorage(const AgentStorage&) = delete;
  AgentStorage& operator=(const AgentStorage&) = delete;

  // Returns the stored job, replica and contributions. Call it once, before the first store().
  AgentState restore();
  // Writes a record and then posts Stored with the outcome. Takes the record out of `request`.
  void store(StoreAgent& request);

  // Whether the stored job is finished or stopped. Thread-safe.
  bool job_over() const { return job_over_; }
  // Least version of the last model: the job's last round, or 0 for a job that was stopped.
  // Thread-safe.
  std::uint64_t last_version() const { return last_version_; }

 private:
  // An open journal and what it contains.
  struct Contents {
    std::unique_ptr<AgentJournal> journal;
    AgentState state;
  };
  static Result<Contents> read(const JournalOptions& options);

  AgentStorage(Contents contents, Parts parts)
      : parts_(std::move(parts)),
        journal_(std::move(contents.journal)),
        state_(std::move(contents.state)),
        thread_(std::make_unique<Worker>("journal")) {}

  void sync_every(std::chrono::milliseconds time, const Clock& clock);
  void stored(const AgentRecordToStore& record);
  void job_stored(const AgentJobRecord& job);

  const Parts parts_;
  const std::unique_ptr<AgentJournal> journal_;
  AgentState state_;  // until restore() returns it
  std::atomic<bool> job_over_ = false;
  std::atomic<std::uint64_t> last_version_ = 0;
  std::unique_ptr<Worker> thread_;         // destroyed before the members above
  std::unique_ptr<PeriodicSync> syncing_;  // null: not needed; destroyed first
};

}  // namespace tributary
