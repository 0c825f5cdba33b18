// The coordinator's jobs in the order of their submission, and the assignment of agents to them.
//
// An agent works for the first job that is not over and accepts it. Without such a job it stays
// with its current one, or receives the last job's model. A job that is over stays in memory until
// its agents have another one. `context` must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/round/coordinator/context/coordinator_context.h"
#include "core/round/coordinator/job/job_run.h"

namespace tributary {

class JobTable {
 public:
  explicit JobTable(CoordinatorContext& context) : context_(context) {}

  // Returns corrupt_data if the journal of a job contradicts itself.
  Status restore(CoordinatorState state);
  // Submits or changes a job. CommandDone is the answer, after storing or at once with an error.
  void submit(const SubmitJob& event);
  void change(const ChangeJob& event);

  // Null if no such job is in memory.
  JobRun* run(std::uint64_t job) const;
  JobRun* run_of(const AgentSession& session) const { return run(session.run); }
  // The first job that is not over, or else the last one; null if there is none.
  JobRun* run_at_work() const;
  // The job for which an agent should work; null if none accepts it.
  JobRun* choose_run(const AgentSession& session) const;
  // True if the agent has its job and that job's current model.
  bool ready(const AgentSession& session) const;
  std::vector<JobView> views() const;

  // An aggregator in the network has opened a session, or is leaving it.
  void aggregator_changed(const AgentSession& session);
  void loaded(const RoundLoaded& event);
  // Runs what is due in all jobs, and then assigns agents to jobs.
  void tick();
  TimeNs next_due_ns() const;
  std::uint64_t incoming_bytes() const;
  std::uint64_t buffered_bytes() const;

 private:
  // Agents change their job only if one of these numbers changes. A new session gets its job at
  // once.
  struct OpenRuns {
    std::size_t runs = 0;
    std::size_t open = 0;  // jobs that are not over
    friend bool operator==(const OpenRuns&, const OpenRuns&) = default;
  };

  // The state of a submitted job at version 0. Returns invalid_argument if the model does not fit
  // it.
  Result<RestoredJob> new_job(const SubmitJob& event);
  OpenRuns open_runs() const;
  // Costs a pass over all sessions after a job was added or has ended, and nothing otherwise.
  void share_out_agents();
  // Removes jobs that are over and have no agents.
  void drop_runs();

  CoordinatorContext& context_;
  std::vector<std::unique_ptr<JobRun>> runs_;
  std::vector<JobView> done_;  // the last jobs that were dropped
  OpenRuns shared_out_;        // state at the last call of share_out_agents()
};

}  // namespace tributary
