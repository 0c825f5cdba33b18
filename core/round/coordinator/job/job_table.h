// The coordinator's jobs, in the order of their submission, and which of them each agent works for.
//
// An agent works for the first job that is not over and that accepts it. Without such a job it
// stays with the one that it had, or gets the last job's model. A job that is over stays until its
// agents have another one.
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

  // An error: the journal of a job contradicts itself.
  Status restore(CoordinatorState state);
  // Both are answered by CommandDone once they are stored, or refused.
  void submit(const SubmitJob& event);
  void change(const ChangeJob& event);

  // Null: no such job is here.
  JobRun* run(std::uint64_t job) const;
  JobRun* run_of(const AgentSession& session) const { return run(session.run); }
  // The first job that is not over, else the last; null: none.
  JobRun* run_at_work() const;
  // The job that an agent is to work for; null: none.
  JobRun* choose_run(const AgentSession& session) const;
  // The agent has its job, and that job's current model.
  bool ready(const AgentSession& session) const;
  std::vector<JobView> views() const;

  void loaded(const RoundLoaded& event);
  // Lets jobs do what is due, then gives every agent the job that it is to work for.
  void tick();
  TimeNs next_due_ns() const;
  std::uint64_t incoming_bytes() const;
  std::uint64_t buffered_bytes() const;

 private:
  // Agents change their job only when one of these changes: a new session takes its job at once.
  struct OpenRuns {
    std::size_t runs = 0;
    std::size_t open = 0;  // runs that are not over
    friend bool operator==(const OpenRuns&, const OpenRuns&) = default;
  };

  Result<RestoredJob> new_job(const SubmitJob& event);
  OpenRuns open_runs() const;
  // Costs a pass over all sessions when a job has come or ended, and nothing otherwise.
  void share_out_agents();
  void drop_runs();

  CoordinatorContext& context_;
  std::vector<std::unique_ptr<JobRun>> runs_;
  std::vector<JobView> done_;  // jobs that were dropped, the last ones
  OpenRuns shared_out_;        // at the last pass of share_out_agents()
};

}  // namespace tributary
